#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "client/cli/output/names.h"
#include "client/cli/output/number_format.h"
#include "client/cli/output/summary_view.h"
#include "client/cli/output/table.h"
#include "client/cli/studies/study_command.h"
#include "client/cli/studies/study_parts.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

// "level (12, 5)", "block 3, head 2", "targets", and under them "  drawn" of their controls.
std::string PlaceOf(const v1::AblateRow& row) {
  const bool head = row.group() == v1::ABLATED_GROUP_HEAD;
  const std::string name = head ? fmt::format("block {}, head {}", row.block(), row.head())
                           : row.group() == v1::ABLATED_GROUP_LEVEL
                               ? fmt::format("level ({}, {})", row.l_start(), row.lifetime())
                           : row.group() == v1::ABLATED_GROUP_ALL_HEADS
                               ? "all heads"
                               : std::string(WordOf(row.group()));
  switch (row.role()) {
    case v1::ABLATION_ROLE_DRAWN_CONTROL:
      return head ? "  " + name + ", drawn" : "  drawn";
    case v1::ABLATION_ROLE_ATTENDED_CONTROL:
      return "  attended";
    default:
      return name;
  }
}

Table NewTable() {
  return Table({{"of", Align::kLeft},
                {"loss", Align::kLeft},
                {"KL"},
                {"choices"},
                {"suppressed"},
                {"vanished"},
                {"appeared"}});
}

void AddLine(const v1::AblateRow& row, Remarks& remarks, Table& table) {
  table.AddRow({PlaceOf(row), Cell(remarks.Show("loss", row.loss_change()), Style::kGreen),
                remarks.Show("KL", row.divergence(), false),
                remarks.Show("choices", row.choices_changed(), false),
                row.has_suppressed() ? remarks.Show("suppressed", row.suppressed(), false) : "",
                remarks.Show("vanished", row.vanished(), false),
                remarks.Show("appeared", row.appeared(), false)});
}

std::string Render(const v1::StudyReport& report, const StudyView& view) {
  const v1::AblateReport& ablate = report.ablate();
  if (!ablate.undefined().empty()) {
    return Heading("what is lost", view.terminal) +
           UndefinedStudy(ablate.undefined(), view.terminal);
  }
  Remarks remarks;
  std::string text =
      fmt::format("  loss of the model as it is: {} nats\n", remarks.Show("loss", ablate.loss()));
  for (int i = 0; i < ablate.rows_size();) {
    const v1::Ablation ablation = ablate.rows(i).ablation();
    Table table = NewTable();
    for (; i < ablate.rows_size() && ablate.rows(i).ablation() == ablation; ++i) {
      AddLine(ablate.rows(i), remarks, table);
    }
    text += Heading(WordOf(ablation), view.terminal) + table.Render(view.terminal);
  }
  return text + remarks.Render() +
         "  loss: change, in nats; choices: share of positions with another most likely token;\n"
         "  suppressed: of the ablated sinks; vanished: of all others; appeared: new sinks of a "
         "sample;\n  drawn, attended: controls, positions that are never a sink or other heads\n" +
         CostLine(ablate.cost());
}

std::string Csv(const v1::StudyReport& report, const CsvTable& csv) {
  const v1::AblatedLoss all;  // no part of the curve
  std::string rows;
  for (const v1::AblateRow& row : report.ablate().rows()) {
    const std::pair<const char*, const v1::Estimate&> measures[] = {
        {"loss_change", row.loss_change()},
        {"divergence", row.divergence()},
        {"choices_changed", row.choices_changed()},
        {"suppressed", row.suppressed()},
        {"vanished", row.vanished()},
        {"appeared", row.appeared()}};
    for (const auto& [name, estimate] : measures) {
      if (name == std::string_view("suppressed") && !row.has_suppressed()) continue;
      rows += csv.Row({&estimate, &all, &row}, {name});
    }
    for (const v1::AblatedLoss& point : row.curve()) {
      rows += csv.Row({&point.loss_change(), &point, &row}, {"loss_change"});
    }
  }
  return rows;
}

}  // namespace

extern const StudyCommand kAblateStudy = {
    .name = "ablate",
    .description = "Take sinks, their values or heads away: what does the model lose?",
    .example = "sinkctl ablate smollm2-135m --input prompts.jsonl --ablations hide-keys",
    .targets = true,
    .render = Render,
    .csv_columns =
        "ablation,group,role,l_start,lifetime,block,head,measure=,first_distance,"
        "last_distance,value,lower,upper,n,undefined",
    .csv = Csv};

}  // namespace sinkd::cli
