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

constexpr int kBarWidth = 8;

std::string Render(const v1::StudyReport& report, const StudyView& view) {
  Remarks remarks;
  Table table({{"l_start"},
               {"site", Align::kLeft},
               {"group", Align::kLeft},
               {"n"},
               {"cosine", Align::kLeft},
               {"min"},
               {"median"},
               {"max"},
               Bars("|cosine|")});
  for (const v1::AlignRow& row : report.align().rows()) {
    const v1::Estimate& cosine = row.cosine();
    const bool target = row.group() == v1::POSITION_GROUP_TARGET;
    const Style style = target ? Style::kGreen : Style::kDim;
    const auto number = [&](double value) {
      return cosine.has_value() ? Fixed(value, 4) : std::string(kAbsent);
    };
    const std::string bar =
        view.charts && cosine.has_value()
            ? Bar(std::abs(cosine.value()), 1.0, kBarWidth, view.terminal.unicode)
            : "";
    table.AddRow({row.has_l_start() ? std::to_string(row.l_start()) : "all", WordOf(row.site()),
                  Cell(WordOf(row.group()), style), Grouped(cosine.n()),
                  Cell(remarks.Show(WordOf(row.group()), cosine), style), number(row.minimum()),
                  number(row.median()), number(row.maximum()), Cell(bar, style)});
  }
  return Heading("cosine with the primary sink of the same sample, at l_start", view.terminal) +
         table.Render(view.terminal) + remarks.Render();
}

std::string Csv(const v1::StudyReport& report, const CsvTable& csv) {
  std::string rows;
  for (const v1::AlignRow& row : report.align().rows()) rows += csv.Row({&row, &row.cosine()});
  return rows;
}

}  // namespace

extern const StudyCommand kAlignStudy = {
    .name = "align",
    .description = "Cosine of each site of the MLP with the primary sink's, at l_start",
    .example = "sinkctl align smollm2-135m --input prompts.jsonl --l-start 11",
    .targets = true,
    .render = Render,
    .csv_columns = "l_start,site,group,value,lower,upper,n,undefined,minimum,median,maximum",
    .csv = Csv};

}  // namespace sinkd::cli
