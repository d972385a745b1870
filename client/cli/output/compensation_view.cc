#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "client/cli/output/chart.h"
#include "client/cli/output/number_format.h"
#include "client/cli/output/summary_view.h"
#include "client/cli/output/table.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;
using Counts = google::protobuf::Map<int32_t, int64_t>;

constexpr int kBarWidth = 18;

std::string IfPresent(bool present, double value) {
  return present ? Fixed(value, 4) : kAbsent;
}

std::string WithInterval(bool present, double value, bool known, const v1::Interval& interval) {
  if (!present) return kAbsent;
  if (!known) return Fixed(value, 4);
  return fmt::format("{} [{}, {}]", Fixed(value, 4), Fixed(interval.lower(), 4),
                     Fixed(interval.upper(), 4));
}

std::string Blocks(const v1::CompensationReport& report, const SummaryView& view,
                   const Terminal& terminal) {
  double most_primary = 0;
  double most_secondary = 0;
  for (const v1::BlockCompensation& block : report.blocks()) {
    most_primary = std::max(most_primary, block.primary());
    most_secondary = std::max(most_secondary, block.secondary());
  }
  Table table({{"block"},
               {"primary", Align::kLeft},
               Bars(),
               {"secondary", Align::kLeft},
               Bars(),
               {"rest"},
               {"primary norm"}});
  for (int i = 0; i < report.blocks_size(); ++i) {
    const v1::BlockCompensation& block = report.blocks(i);
    const auto bar = [&](double value, double most, Style style) {
      return Cell(view.charts ? Bar(value, most, kBarWidth, terminal.unicode) : "", style);
    };
    table.AddRow({std::to_string(i),
                  WithInterval(block.has_primary(), block.primary(), block.has_primary_interval(),
                               block.primary_interval()),
                  bar(block.primary(), most_primary, Style::kCyan),
                  WithInterval(block.has_secondary(), block.secondary(),
                               block.has_secondary_interval(), block.secondary_interval()),
                  bar(block.secondary(), most_secondary, Style::kGreen),
                  IfPresent(block.has_rest(), block.rest()), Fixed(block.primary_norm(), 1)});
  }
  return table.Render(terminal);
}

// "4: 12, 5: 3" in ascending order of the key.
std::string CountsText(const Counts& counts, const char* format_sign) {
  const std::map<int32_t, int64_t> ordered(counts.begin(), counts.end());
  std::string text;
  for (const auto& [key, count] : ordered) {
    text += fmt::format("{}{}{}: {}", text.empty() ? "" : ", ", key > 0 ? format_sign : "", key,
                        Grouped(count));
  }
  return text.empty() ? "none" : text;
}

std::string Correlation(const char* name, const v1::Correlation& correlation, bool known,
                        const v1::Interval& interval) {
  std::string text = fmt::format("  {} {}", name, CorrelationText(correlation));
  if (known) {
    text += fmt::format(", bootstrap 95% [{}, {}]", Fixed(interval.lower(), 4),
                        Fixed(interval.upper(), 4));
  }
  return text + '\n';
}

}  // namespace

std::string RenderCompensation(const v1::CompensationReport& report, const SummaryView& view,
                               const Terminal& terminal) {
  std::string text =
      Heading("compensation: attention on the primary and on secondary sinks", terminal);
  text += Blocks(report, view, terminal);
  text += fmt::format("\n  primary weakest at block (samples)   {}\n",
                      CountsText(report.weakest_block(), ""));
  text += fmt::format("  first layer minus that block (sinks) {}\n",
                      CountsText(report.start_minus_weakest(), "+"));
  text += "  primary against secondary mass, over the blocks of the windows:\n";
  text += Correlation("  Pearson ", report.pearson(), report.has_pearson_interval(),
                      report.pearson_interval());
  return text + Correlation("  Spearman", report.spearman(), report.has_spearman_interval(),
                            report.spearman_interval());
}

}  // namespace sinkd::cli
