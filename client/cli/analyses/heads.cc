#include <algorithm>
#include <set>
#include <utility>
#include <vector>

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
using Values = google::protobuf::RepeatedField<double>;
using Places = google::protobuf::RepeatedPtrField<v1::HeadPlace>;

constexpr int kMapHeight = 32;
constexpr int kMostListed = 24;

struct Measure {
  const char* title;  // of its column; empty: only in CSV
  const Values& (v1::HeadReport::*values)() const;
};

constexpr Measure kMeasures[] = {
    {"entropy", &v1::HeadReport::entropy},
    {"max weight", &v1::HeadReport::max_weight},
    {"primary", &v1::HeadReport::primary},
    {"secondary", &v1::HeadReport::secondary},
    {"rest", &v1::HeadReport::rest},
    {"", &v1::HeadReport::learned_sink},
    {"previous", &v1::HeadReport::previous_token},
    {"duplicate", &v1::HeadReport::duplicate_token},
    {"first", &v1::HeadReport::first_token},
    {"", &v1::HeadReport::primary_value},
    {"", &v1::HeadReport::secondary_value},
    {"", &v1::HeadReport::rest_value},
    {"value share", &v1::HeadReport::primary_value_share},
    {"", &v1::HeadReport::gate},
};

// The number of rows that a table of blocks and heads has.
int BlocksOf(const v1::HeadReport& report) {
  return report.heads() > 0 ? report.entropy_size() / report.heads() : 0;
}

int BlockAt(const v1::Summary& summary, int place) {
  return place < summary.attention_blocks_size() ? summary.attention_blocks(place) : place;
}

std::string Map(const v1::Summary& summary, const Values& values, const char* title,
                const SummaryView& view, const Terminal& terminal) {
  const int heads = summary.heads().heads();
  HeatMap map;
  map.x_count = view.blocks;
  map.y_minimum = 0;
  map.y_maximum = heads - 1;
  map.x_title = "block";
  map.y_title = title;
  for (int i = 0; i < values.size(); ++i) {
    const int block = BlockAt(summary, i / heads);
    map.places.emplace_back(block, i % heads);
    map.weights.push_back(values[i]);
    map.x_count = std::max(map.x_count, block + 1);
  }
  return RenderHeatMap(map, std::min(terminal.width, 120), kMapHeight, terminal.unicode);
}

// "  dormant    3 of 270: 2.7 3.1 3.4", block and head.
std::string Flagged(const char* name, const Places& places, int heads) {
  std::string text = fmt::format("  {:<10} {} of {}", name, places.size(), heads);
  for (int i = 0; i < std::min(places.size(), kMostListed); ++i) {
    text += fmt::format("{}{}.{}", i == 0 ? ": " : " ", places[i].block(), places[i].head());
  }
  return text + (places.size() > kMostListed ? " ...\n" : "\n");
}

std::string Blocks(const v1::Summary& summary, const Terminal& terminal) {
  const v1::HeadReport& report = summary.heads();
  std::vector<Column> columns = {{"block"}};
  for (const Measure& measure : kMeasures) {
    if (*measure.title != '\0') columns.push_back({measure.title});
  }
  Table table(std::move(columns));
  for (int place = 0; place < BlocksOf(report); ++place) {
    std::vector<Cell> row = {std::to_string(BlockAt(summary, place))};
    for (const Measure& measure : kMeasures) {
      if (*measure.title == '\0') continue;
      const Values& values = (report.*measure.values)();
      const bool present = (place + 1) * report.heads() <= values.size();
      row.emplace_back(present ? Fixed(MeanOfRow(values, place, report.heads()), 4) : kAbsent);
    }
    table.AddRow(std::move(row));
  }
  return "  means over heads:\n" + table.Render(terminal);
}

std::string Render(const v1::Summary& summary, const SummaryView& view, const Terminal& terminal) {
  if (!summary.has_heads()) return "";
  const v1::HeadReport& report = summary.heads();
  std::string text =
      Heading("heads: where each one's attention goes, and what comes of it", terminal);
  text += fmt::format("  samples: {}, left out because no query lies past their primary sink: {}\n",
                      Grouped(report.samples()), Grouped(report.left_out()));
  const int heads = BlocksOf(report) * report.heads();
  if (heads == 0) return text;
  text += "  heads as block.head:\n";
  text += Flagged("dormant", report.dormant(), heads);
  text += Flagged("collapsed", report.collapsed(), heads);
  text += Flagged("focused", report.focused(), heads);
  if (view.charts) {
    text += '\n' + Map(summary, report.primary(), "head, by attention to the primary sink", view,
                       terminal);
    text += '\n' + Map(summary, report.entropy(), "head, by normalised entropy", view, terminal);
  }
  return text + '\n' + Blocks(summary, terminal);
}

std::set<std::pair<int, int>> SetOf(const Places& places) {
  std::set<std::pair<int, int>> all;
  for (const v1::HeadPlace& place : places) all.emplace(place.block(), place.head());
  return all;
}

std::string Csv(const v1::Summary& summary, const CsvTable& csv) {
  const v1::HeadReport& report = summary.heads();
  const std::set<std::pair<int, int>> flags[] = {SetOf(report.dormant()), SetOf(report.collapsed()),
                                                 SetOf(report.focused())};
  std::string rows;
  for (int i = 0; i < BlocksOf(report) * report.heads(); ++i) {
    const std::pair<int, int> place(BlockAt(summary, i / report.heads()), i % report.heads());
    CsvTable::Words words = {fmt::to_string(place.first), fmt::to_string(place.second)};
    for (const Measure& measure : kMeasures) {
      const Values& values = (report.*measure.values)();
      words.push_back(i < values.size() ? fmt::to_string(values[i]) : "");
    }
    for (const auto& flag : flags) words.push_back(flag.contains(place) ? "true" : "false");
    rows += csv.Row({}, words);
  }
  return rows;
}

}  // namespace

extern const AnalysisCommand kHeadsAnalysis = {
    .name = "heads",
    .field = "heads",
    .group = "Heads",
    .description = "What each head does: entropy, attention to sinks, and what its values add",
    .shows = "Heads",
    .example = "sinkctl heads smollm2-135m --input prompts.jsonl --dormant-mass 0.8",
    .in_all = false,
    .render = Render,
    .csv_columns =
        "block=,head=,entropy=,max_weight=,primary=,secondary=,rest=,learned_sink=,"
        "previous_token=,duplicate_token=,first_token=,primary_value=,secondary_value=,rest_value=,"
        "primary_value_share=,gate=,dormant=,collapsed=,focused=",
    .csv = Csv,
};

}  // namespace sinkd::cli
