#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "client/cli/analyses/analysis_command.h"
#include "client/cli/output/chart.h"
#include "client/cli/output/number_format.h"
#include "client/cli/output/row_mean.h"
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

std::string Render(const v1::Summary& summary, const SummaryView& view, const Terminal& terminal) {
  if (!summary.has_compensation()) return "";
  const v1::CompensationReport& report = summary.compensation();
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

// Where `block` stands among the blocks with attention; -1 where it has none.
int PlaceOf(const v1::Summary& summary, int block) {
  if (summary.attention_blocks_size() == 0) return block;
  const auto& blocks = summary.attention_blocks();
  const auto found = std::find(blocks.begin(), blocks.end(), block);
  return found == blocks.end() ? -1 : static_cast<int>(found - blocks.begin());
}

std::string Csv(const v1::Summary& summary, const CsvTable& csv) {
  std::string rows;
  const v1::CompensationReport& report = summary.compensation();
  const v1::LearnedSinkReport& learned = summary.learned_sinks();
  const v1::GateReport& gates = summary.gates();
  for (int block = 0; block < report.blocks_size(); ++block) {
    const auto weakest = report.weakest_block().find(block);
    CsvTable::Words words = {
        fmt::to_string(block),
        fmt::to_string(weakest == report.weakest_block().end() ? 0 : weakest->second)};
    const int place = PlaceOf(summary, block);
    for (const auto* gate : {&gates.all(), &gates.primary(), &gates.secondary()}) {
      const bool has_gate =
          place >= 0 && (place + 1) * gates.heads() <= gate->size() && gates.heads() > 0;
      words.push_back(has_gate ? fmt::to_string(MeanOfRow(*gate, place, gates.heads())) : "");
    }
    const bool has_mass = place >= 0 && place < learned.mass_size();
    words.push_back(has_mass ? fmt::to_string(learned.mass(place)) : "");
    rows += csv.Row({&report.blocks(block)}, words);
  }
  return rows;
}

}  // namespace

extern const AnalysisCommand kCompensationAnalysis = {
    .name = "compensation",
    .field = "compensation",
    .group = "Compensation",
    .description = "Whether secondary sinks take over where the primary is weak",
    .shows = "Compensation",
    .example = "sinkctl compensation smollm2-135m --input prompts.jsonl --bootstrap-samples 2000",
    .takes_scores = true,
    .shows_attention = true,
    .render = Render,
    .csv_columns =
        "block=,primary,primary_lower=primary_interval.lower,primary_upper=primary_interval.upper,"
        "secondary,secondary_lower=secondary_interval.lower,"
        "secondary_upper=secondary_interval.upper,rest,primary_norm,samples_weakest_here=,gate=,"
        "gate_primary=,gate_secondary=,learned_sink_mass=",
    .csv = Csv,
};

}  // namespace sinkd::cli
