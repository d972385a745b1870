#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "client/cli/output/chart.h"
#include "client/cli/output/number_format.h"
#include "client/cli/output/summary_view.h"
#include "client/cli/output/table.h"
#include "client/cli/studies/study_command.h"
#include "client/cli/studies/study_parts.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;
using Directions = google::protobuf::RepeatedPtrField<v1::PcaDirection>;

constexpr int kBarWidth = 16;

// The trial that comes nearest to the primary sink's direction; null without trials.
const v1::PcaTrial* Best(const v1::PcaDirection& direction) {
  const auto& trials = direction.trials();
  const auto best = std::max_element(trials.begin(), trials.end(),
                                     [](const v1::PcaTrial& a, const v1::PcaTrial& b) {
                                       return std::abs(a.cosine()) < std::abs(b.cosine());
                                     });
  return best == trials.end() ? nullptr : &*best;
}

void AddRows(const char* name, const Directions& directions, const StudyView& view, Table& table) {
  for (int i = 0; i < directions.size(); ++i) {
    const v1::PcaDirection& direction = directions[i];
    const v1::PcaTrial* best = Best(direction);
    const Style style = direction.effective() ? Style::kGreen : Style::kDim;
    const auto of_best = [&](double value, int digits) {
      return best != nullptr ? Fixed(value, digits) : std::string(kAbsent);
    };
    table.AddRow(
        {fmt::format("{} {}", name, i + 1),
         direction.has_explained_variance() ? Fixed(direction.explained_variance(), 4) : kAbsent,
         direction.has_singular_value() ? Compact(direction.singular_value()) : kAbsent,
         Cell(direction.effective() ? "yes" : "no", style),
         of_best(best != nullptr ? best->scale() : 0, 2),
         best != nullptr ? Compact(best->output_norm()) : kAbsent,
         Cell(of_best(best != nullptr ? best->cosine() : 0, 4), style),
         Cell(view.charts && best != nullptr
                  ? Bar(std::abs(best->cosine()), 1.0, kBarWidth, view.terminal.unicode)
                  : "",
              style)});
  }
}

std::string Render(const v1::StudyReport& report, const StudyView& view) {
  const v1::PcaReport& pca = report.pca();
  if (!pca.undefined().empty()) {
    return Heading("principal components of mlp_in, each through its MLP", view.terminal) +
           UndefinedStudy(pca.undefined(), view.terminal);
  }
  std::string text = Heading(
      fmt::format("principal components of mlp_in at block {}, each through its MLP", pca.block()),
      view.terminal);
  text += fmt::format("  {} rows, targets' mean ||mlp_in|| {}\n", Grouped(pca.rows()),
                      Compact(pca.mean_norm()));
  Table table({{"direction", Align::kLeft},
               {"variance"},
               {"singular"},
               {"effective"},
               {"at scale"},
               {"output norm"},
               {"cosine"},
               Bars("|cosine|")});
  AddRows("component", pca.components(), view, table);
  AddRows("random", pca.random(), view, table);
  const auto effective = [](const Directions& directions) {
    return std::count_if(directions.begin(), directions.end(),
                         [](const v1::PcaDirection& each) { return each.effective(); });
  };
  return text + table.Render(view.terminal) +
         fmt::format(
             "  the scale shown is the one nearest to the primary sink's direction\n"
             "  effective: {} of {} components, {} of {} random directions\n",
             effective(pca.components()), pca.components_size(), effective(pca.random()),
             pca.random_size());
}

std::string Rows(const char* name, const Directions& directions, const CsvTable& csv) {
  std::string rows;
  for (int i = 0; i < directions.size(); ++i) {
    for (const v1::PcaTrial& trial : directions[i].trials()) {
      rows += csv.Row({&trial, &directions[i]}, {name, fmt::to_string(i)});
    }
  }
  return rows;
}

std::string Csv(const v1::StudyReport& report, const CsvTable& csv) {
  return Rows("component", report.pca().components(), csv) +
         Rows("random", report.pca().random(), csv);
}

}  // namespace

extern const StudyCommand kPcaStudy = {
    .name = "pca",
    .description = "Principal components of the MLP's input, and which of them make a sink",
    .example = "sinkctl pca smollm2-135m --input prompts.jsonl --components 5",
    .targets = true,
    .render = Render,
    .csv_columns =
        "direction=,index=,explained_variance,singular_value,effective,scale,output_norm,cosine",
    .csv = Csv};

}  // namespace sinkd::cli
