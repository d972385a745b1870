#include <algorithm>

#include <fmt/format.h>

#include "client/cli/output/chart.h"
#include "client/cli/output/names.h"
#include "client/cli/output/number_format.h"
#include "client/cli/output/summary_view.h"
#include "client/cli/output/table.h"
#include "client/cli/studies/study_command.h"
#include "client/cli/studies/study_parts.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

constexpr int kBarWidth = 10;

std::string Render(const v1::StudyReport& report, const StudyView& view) {
  const v1::SteerReport& steer = report.steer();
  if (!steer.undefined().empty()) {
    return Heading("the norm of what the MLP writes, changed", view.terminal) +
           UndefinedStudy(steer.undefined(), view.terminal);
  }
  std::string text =
      Heading(fmt::format("the norm of what the MLP of block {} writes, changed at {} positions",
                          steer.block(), Grouped(steer.steered())),
              view.terminal);
  double most = 0;
  for (const v1::SteerRow& row : steer.rows()) most = std::max(most, row.lifetime().value());
  Table table({{"tau"},
               {"norm"},
               {"lifetime", Align::kLeft},
               Bars(),
               {"sinks"},
               {"score"},
               {"random"},
               {"untouched"},
               {"loss"}});
  Remarks remarks;
  for (const v1::SteerRow& row : steer.rows()) {
    const std::string bar =
        view.charts ? Bar(row.lifetime().value(), most, kBarWidth, view.terminal.unicode) : "";
    // What stands for the effect of a norm is not there where none is given.
    const auto steered = [&](const char* what, bool present, const v1::Estimate& estimate) {
      return row.has_tau() && present ? remarks.Show(what, estimate, false) : std::string(kAbsent);
    };
    table.AddRow({row.has_tau() ? Compact(row.tau()) : "as it is",
                  remarks.Show("norm", row.mlp_norm(), false),
                  Cell(remarks.Show("lifetime", row.lifetime()), Style::kGreen),
                  Cell(bar, Style::kGreen), remarks.Show("sinks", row.sinks(), false),
                  remarks.Show("score", row.score(), false),
                  steered("random", true, row.random_lifetime()),
                  steered("untouched", true, row.untouched_lifetime_change()),
                  steered("loss", row.has_loss_change(), row.loss_change())});
  }
  return text + table.Render(view.terminal) + remarks.Render() +
         "  lifetime in layers, 0 for no sink; random: lifetime when a random direction of norm "
         "tau is\n  written instead; untouched: change of the lifetime of all other sinks; loss: "
         "change, in nats\n" +
         CostLine(steer.cost());
}

std::string Csv(const v1::StudyReport& report, const CsvTable& csv) {
  std::string rows;
  for (const v1::SteerRow& row : report.steer().rows()) {
    rows += EstimateRows(row, row,
                         "mlp_norm,lifetime,sinks,score,untouched_lifetime_change,random_lifetime,"
                         "loss_change",
                         csv);
  }
  return rows;
}

}  // namespace

extern const StudyCommand kSteerStudy = {
    .name = "steer",
    .description = "Change the norm of what the MLP writes: lifetime and score by norm",
    .example = "sinkctl steer smollm2-135m --input prompts.jsonl --taus 0,500,1000,2000",
    .targets = true,
    .render = Render,
    .csv_columns = "tau,measure=,value,lower,upper,n,undefined",
    .csv = Csv};

}  // namespace sinkd::cli
