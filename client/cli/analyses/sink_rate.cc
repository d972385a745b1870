#include <algorithm>

#include <fmt/format.h>

#include "client/cli/analyses/analysis_command.h"
#include "client/cli/output/chart.h"
#include "client/cli/output/number_format.h"
#include "client/cli/output/summary_view.h"
#include "client/cli/output/table.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

// "7", or "7-9".
std::string Span(int first, int last) {
  return first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
}

std::string Render(const v1::Summary& summary, const SummaryView& view, const Terminal& terminal) {
  if (!summary.has_sink_rate()) return "";
  const v1::SinkRateReport& report = summary.sink_rate();
  Table table({{"pos"}, {"rate"}, {"hits"}, {"cells"}, Bars()});
  const int count = std::min({report.rates_size(), report.cells_size(), report.hits_size()});
  int end = 0;
  for (int position = 0; position < count; position = end) {
    end = position + 1;
    if (report.cells(position) == 0) continue;
    const double rate = report.rates(position);
    const int64_t hits = report.hits(position);
    int64_t least = report.cells(position);
    int64_t most = least;
    // Positions without a hit are one row.
    for (; hits == 0 && end < count && report.hits(end) == 0 && report.cells(end) > 0; ++end) {
      least = std::min(least, report.cells(end));
      most = std::max(most, report.cells(end));
    }
    table.AddRow({Span(position, end - 1), Fixed(rate, 4), Grouped(hits),
                  least == most ? Grouped(most) : Grouped(least) + "-" + Grouped(most),
                  Cell(view.charts ? Bar(rate, 1.0, 30, terminal.unicode) : "", Style::kCyan)});
  }
  std::string text = Heading("sink rate: share of (sample, block, head) over epsilon", terminal);
  text += fmt::format("  {} samples, {} left out as too short\n", Grouped(report.samples()),
                      Grouped(report.left_out()));
  return table.empty() ? text : text + table.Render(terminal);
}

std::string Csv(const v1::Summary& summary, const CsvTable& csv) {
  const v1::SinkRateReport& report = summary.sink_rate();
  std::string rows;
  for (int position = 0; position < report.cells_size(); ++position) {
    const bool defined = position < report.rates_size() && report.cells(position) > 0;
    rows += csv.Row(
        {}, {fmt::to_string(position), defined ? fmt::to_string(report.rates(position)) : "",
             position < report.hits_size() ? fmt::to_string(report.hits(position)) : "",
             fmt::to_string(report.cells(position))});
  }
  return rows;
}

}  // namespace

extern const AnalysisCommand kSinkRateAnalysis = {
    .name = "rate",
    .field = "sink_rate",
    .group = "Sink rate",
    .description = "Sink rate by position (Gu et al. 2024)",
    .shows = "Sink rate",
    .example = "sinkctl rate smollm2-135m --input prompts.jsonl --gu2024",
    .takes_scores = true,
    .render = Render,
    .csv_columns = "position=,rate=,hits=,cells=",
    .csv = Csv,
};

}  // namespace sinkd::cli
