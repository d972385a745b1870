#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "client/cli/output/chart.h"
#include "client/cli/output/number_format.h"
#include "client/cli/output/summary_view.h"
#include "client/cli/output/table.h"
#include "client/cli/studies/study_command.h"
#include "client/cli/studies/study_parts.h"
#include "client/cli/terminal/text_width.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

constexpr int kBarWidth = 16;
constexpr int kTokenWidth = 14;

double Largest(const v1::MassiveReport& report) {
  double largest = 0;
  for (const v1::MassiveRow& row : report.rows()) {
    for (const v1::MassiveEntry& entry : row.entries()) {
      largest = std::max(largest, std::abs(entry.value()));
    }
  }
  return largest;
}

std::string Render(const v1::StudyReport& report, const StudyView& view) {
  const double largest = Largest(report.massive());
  Table table({{"block"},
               {"of", Align::kLeft},
               {"value"},
               Bars(),
               {"channel"},
               {"sample"},
               {"pos"},
               {"token", Align::kLeft},
               {"median"},
               {"rest"}});
  for (const v1::MassiveRow& row : report.massive().rows()) {
    for (int i = 0; i < row.entries_size(); ++i) {
      const v1::MassiveEntry& entry = row.entries(i);
      const bool first = i == 0;
      const std::string bar =
          view.charts ? Bar(std::abs(entry.value()), largest, kBarWidth, view.terminal.unicode)
                      : "";
      table.AddRow({first ? std::to_string(row.block()) : "",
                    !first                   ? ""
                    : row.has_sample_index() ? fmt::format("sample {}", row.sample_index())
                                             : std::string("all"),
                    Cell(Compact(entry.value()), first ? Style::kBold : Style::kPlain),
                    Cell(bar, Style::kCyan), std::to_string(entry.channel()),
                    std::to_string(entry.sample_index()), std::to_string(entry.position()),
                    QuoteToken(entry.token_text(), kTokenWidth, view.terminal.unicode),
                    first ? Compact(row.median()) : "",
                    first ? Compact(row.largest_of_rest()) : ""});
    }
  }
  return Heading("largest entries of the states after each block", view.terminal) +
         table.Render(view.terminal) +
         "  median: of all |entries|; rest: largest |entry| at positions that never are a sink\n";
}

std::string Csv(const v1::StudyReport& report, const CsvTable& csv) {
  std::string rows;
  for (const v1::MassiveRow& row : report.massive().rows()) {
    for (int i = 0; i < row.entries_size(); ++i) {
      rows += csv.Row({&row.entries(i), &row},
                      {row.has_sample_index() ? "sample" : "all", fmt::to_string(i)});
    }
  }
  return rows;
}

}  // namespace

extern const StudyCommand kMassiveStudy = {
    .name = "massive",
    .description = "The largest entries of the states: channel, position, token",
    .example = "sinkctl massive smollm2-135m --text \"Hello there\" --top 5",
    .targets = false,
    .render = Render,
    .csv_columns =
        "block,of=,rank=,value,channel,sample_index,position,token_id,token_text,median,"
        "largest_of_rest",
    .csv = Csv};

}  // namespace sinkd::cli
