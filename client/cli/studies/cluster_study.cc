#include <algorithm>

#include <fmt/format.h>

#include "client/cli/output/chart.h"
#include "client/cli/output/names.h"
#include "client/cli/output/number_format.h"
#include "client/cli/output/summary_view.h"
#include "client/cli/output/table.h"
#include "client/cli/studies/study_command.h"
#include "client/cli/studies/study_parts.h"
#include "client/error_report.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

constexpr int kBarWidth = 20;

// AUC of 0.5 is chance: what is over it is drawn.
std::string AucBar(const v1::ClusterRow& row, const StudyView& view) {
  if (!view.charts || !row.has_auc()) return {};
  return Bar(std::max(0.0, row.auc() - 0.5), 0.5, kBarWidth, view.terminal.unicode);
}

std::string Rows(const v1::ClusterReport& report, const StudyView& view) {
  Table table({{"block"},
               {"site", Align::kLeft},
               {"adjusted Rand"},
               {"silhouette"},
               {"AUC"},
               {"AUC over 0.5", Align::kLeft}});
  std::vector<std::string> remarks;
  for (const v1::ClusterRow& row : report.rows()) {
    const auto number = [](bool present, double value) {
      return present ? Fixed(value, 4) : std::string(kAbsent);
    };
    table.AddRow({std::to_string(row.block()), WordOf(row.site()),
                  number(row.has_adjusted_rand(), row.adjusted_rand()),
                  number(row.has_silhouette(), row.silhouette()), number(row.has_auc(), row.auc()),
                  Cell(AucBar(row, view), Style::kGreen)});
    if (row.undefined().empty()) continue;
    std::string line = fmt::format("  {}: undefined, {}\n", WordOf(row.site()),
                                   client::MakePrintable(row.undefined()));
    if (std::find(remarks.begin(), remarks.end(), line) == remarks.end()) {
      remarks.push_back(std::move(line));
    }
  }
  std::string text = table.Render(view.terminal);
  for (const std::string& line : remarks) text += line;
  return text;
}

std::string Decision(const v1::ClusterReport& report) {
  std::string text = "  separates from block on:";
  for (const v1::DecisionLayer& layer : report.decision_layers()) {
    text += fmt::format(" {} {}", WordOf(layer.site()),
                        layer.has_block() ? std::to_string(layer.block()) : "never");
    if (&layer != &*report.decision_layers().rbegin()) text += ',';
  }
  if (!report.has_decision_layer()) return text + "\n  decision layer: none found\n";
  return text + fmt::format("\n  decision layer: {}, seen at {}\n", report.decision_layer(),
                            WordOf(report.decision_site()));
}

std::string Maps(const v1::ClusterReport& report) {
  std::string text;
  for (const v1::TsneMap& map : report.maps()) {
    text += fmt::format("  t-SNE of {} at block {}: {} points, perplexity {}, divergence {} nats\n",
                        WordOf(map.site()), map.block(), map.coordinates_size() / 2,
                        Compact(map.perplexity()), Compact(map.divergence()));
  }
  return text;
}

std::string Render(const v1::StudyReport& report, const StudyView& view) {
  const v1::ClusterReport& cluster = report.cluster();
  const std::string head =
      Heading("whether targets and controls lie apart, block by block", view.terminal);
  if (!cluster.undefined().empty()) {
    return head + UndefinedStudy(cluster.undefined(), view.terminal);
  }
  return head + Rows(cluster, view) + Decision(cluster) + Maps(cluster);
}

std::string Csv(const v1::StudyReport& report, const CsvTable& csv) {
  std::string rows;
  for (const v1::ClusterRow& row : report.cluster().rows()) rows += csv.Row({&row});
  return rows;
}

}  // namespace

extern const StudyCommand kClusterStudy = {
    .name = "cluster",
    .description = "From which block on targets and controls lie apart: the decision layer",
    .example = "sinkctl cluster smollm2-135m --input prompts.jsonl --tsne-sites mlp_in -o json",
    .targets = true,
    .render = Render,
    .csv_columns = "block,site,adjusted_rand,silhouette,auc,undefined",
    .csv = Csv};

}  // namespace sinkd::cli
