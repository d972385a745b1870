#include <algorithm>

#include <fmt/format.h>

#include "client/cli/analyses/analysis_command.h"
#include "client/cli/output/chart.h"
#include "client/cli/output/names.h"
#include "client/cli/output/number_format.h"
#include "client/cli/output/record_view.h"
#include "client/cli/output/summary_view.h"
#include "client/cli/output/table.h"
#include "client/cli/terminal/text_width.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

constexpr int kBarWidth = 30;
constexpr int kMapHeight = 12;

std::string Map(const v1::LevelReport& report, const SummaryView& view, const Terminal& terminal) {
  HeatMap map;
  map.x_count = view.blocks;
  map.x_title = "first layer";
  map.y_title = "lifetime (layers)";
  for (const v1::LevelCount& level : report.counts()) {
    map.places.emplace_back(level.l_start(), level.lifetime());
    map.weights.push_back(static_cast<double>(level.count()));
    map.x_count = std::max(map.x_count, level.l_start() + 1);
    map.y_maximum = std::max(map.y_maximum, level.lifetime());
  }
  return RenderHeatMap(map, std::min(terminal.width, 90), kMapHeight, terminal.unicode);
}

std::string Counts(const v1::LevelReport& report, const SummaryView& view,
                   const Terminal& terminal) {
  int64_t most = 0;
  for (const v1::LevelCount& level : report.counts()) most = std::max(most, level.count());
  Table table({{"level"}, {"kind", Align::kLeft}, {"count"}, Bars()});
  for (const v1::LevelCount& level : report.counts()) {
    const Style style = KindStyle(level.kind());
    const std::string bar = view.charts
                                ? Bar(static_cast<double>(level.count()), static_cast<double>(most),
                                      kBarWidth, terminal.unicode)
                                : "";
    table.AddRow({fmt::format("({}, {})", level.l_start(), level.lifetime()),
                  Cell(WordOf(level.kind()), style), Grouped(level.count()), Cell(bar, style)});
  }
  return table.Render(terminal);
}

std::string Numbers(const v1::LevelReport& report) {
  std::string text = fmt::format(
      "  {} secondary, {} primary, {} noise; {} secondary per 1,000 tokens; in {} samples ({}%)\n",
      Grouped(report.secondary()), Grouped(report.primary()), Grouped(report.noise()),
      Fixed(report.secondary_per_1000_tokens(), 3), Grouped(report.samples_with_secondary()),
      Fixed(100 * report.share_of_samples_with_secondary(), 1));
  text += fmt::format("  {} distinct level{}", report.distinct_levels(),
                      report.distinct_levels() == 1 ? "" : "s");
  if (report.has_entropy()) text += fmt::format(", entropy {} nats", Fixed(report.entropy(), 4));
  if (report.has_normalized_entropy()) {
    text += fmt::format(" ({} of the largest)", Fixed(report.normalized_entropy(), 4));
  }
  return text + '\n';
}

std::string Tokens(const v1::LevelReport& report, const Terminal& terminal) {
  if (report.top_tokens().empty()) return {};
  Table table({{"token", Align::kLeft}, {"id"}, {"secondary sinks"}});
  for (const v1::TokenCount& token : report.top_tokens()) {
    table.AddRow({Cell(QuoteToken(token.text(), 24, terminal.unicode), Style::kBold),
                  std::to_string(token.token_id()), Grouped(token.count())});
  }
  return '\n' + table.Render(terminal);
}

std::string Positions(const v1::LevelReport& report, const Terminal& terminal) {
  std::vector<float> bins;
  float most = 0;
  std::string counts;
  for (const int64_t count : report.position_bins()) {
    bins.push_back(static_cast<float>(count));
    most = std::max(most, bins.back());
    counts += (counts.empty() ? "" : " ") + Grouped(count);
  }
  if (most == 0) return {};
  return fmt::format("\n  where in the sample, start to end: {}  ({})\n",
                     Sparkline(bins, static_cast<double>(most), 10, terminal.unicode), counts);
}

std::string Render(const v1::Summary& summary, const SummaryView& view, const Terminal& terminal) {
  if (!summary.has_levels()) return "";
  const v1::LevelReport& report = summary.levels();
  std::string text = Heading("levels (first layer, lifetime)", terminal) + Numbers(report);
  if (report.counts().empty()) return text + "  no sinks past the primary one\n";
  text += '\n' + Counts(report, view, terminal);
  if (view.charts) text += '\n' + Map(report, view, terminal);
  text += Tokens(report, terminal);
  return view.charts ? text + Positions(report, terminal) : text;
}

std::string Csv(const v1::Summary& summary, const CsvTable& csv) {
  std::string rows;
  for (const v1::LevelCount& level : summary.levels().counts()) rows += csv.Row({&level});
  return rows;
}

}  // namespace

extern const AnalysisCommand kLevelsAnalysis = {
    .name = "levels",
    .field = "levels",
    .group = "Levels",
    .description = "Histogram of (first layer, lifetime)",
    .shows = "Level histogram",
    .example = "sinkctl levels smollm2-135m --input prompts.jsonl --kind-rule published",
    .render = Render,
    .csv_columns = "l_start,lifetime,kind,count",
    .csv = Csv,
};

}  // namespace sinkd::cli
