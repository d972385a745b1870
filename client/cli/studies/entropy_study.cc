#include <algorithm>

#include "client/cli/output/chart.h"
#include "client/cli/output/number_format.h"
#include "client/cli/output/summary_view.h"
#include "client/cli/output/table.h"
#include "client/cli/studies/study_command.h"
#include "client/cli/studies/study_parts.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

constexpr int kBarWidth = 16;

std::string Render(const v1::StudyReport& report, const StudyView& view) {
  Remarks remarks;
  Table table({{"block"},
               {"entropy", Align::kLeft},
               {"normalized"},
               Bars(),
               {"without sinks", Align::kLeft}});
  for (const v1::EntropyRow& row : report.entropy().rows()) {
    const v1::Estimate& share = row.normalized();
    const std::string bar = view.charts && share.has_value()
                                ? Bar(share.value(), 1.0, kBarWidth, view.terminal.unicode)
                                : "";
    table.AddRow({std::to_string(row.block()), remarks.Show("entropy", row.entropy()),
                  remarks.Show("normalized", share, false), Cell(bar, Style::kCyan),
                  remarks.Show("without sinks", row.without_sinks())});
  }
  return Heading("matrix entropy of the states after each block, in nats", view.terminal) +
         table.Render(view.terminal) + remarks.Render() +
         "  normalized: entropy / ln(min(rows, hidden size)); without sinks: the same entropy\n"
         "  without the rows of the primary and all other sinks\n";
}

std::string Csv(const v1::StudyReport& report, const CsvTable& csv) {
  std::string rows;
  for (const v1::EntropyRow& row : report.entropy().rows()) {
    rows += EstimateRows(row, row, "entropy,normalized,without_sinks", csv);
  }
  return rows;
}

}  // namespace

extern const StudyCommand kEntropyStudy = {
    .name = "entropy",
    .description = "Matrix entropy of the states, with and without the sinks",
    .example = "sinkctl entropy smollm2-135m --input prompts.jsonl --alpha 2",
    .targets = false,
    .render = Render,
    .csv_columns = "block,measure=,value,lower,upper,n,undefined",
    .csv = Csv};

}  // namespace sinkd::cli
