#include "client/cli/analyses/analysis_command.h"
#include "client/cli/output/names.h"
#include "client/cli/output/number_format.h"
#include "client/cli/output/record_view.h"
#include "client/cli/output/summary_view.h"
#include "client/cli/output/table.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

void AddScoreRow(const Cell& group, const v1::ScoreStatistics& statistics, Table& table) {
  const bool any = statistics.count() > 0;
  const auto value = [&](double number) { return any ? Fixed(number, 4) : std::string(kAbsent); };
  table.AddRow({group, Grouped(statistics.count()), value(statistics.mean()),
                value(statistics.deviation()), value(statistics.minimum()),
                value(statistics.maximum()), Grouped(statistics.undefined())});
}

std::string Render(const v1::Summary& summary, const SummaryView&, const Terminal& terminal) {
  if (!summary.has_scores()) return "";
  const v1::ScoreReport& report = summary.scores();
  Table table(
      {{"group", Align::kLeft}, {"sinks"}, {"mean"}, {"sd"}, {"min"}, {"max"}, {"not read"}});
  AddScoreRow(Cell("the primary sink", Style::kBold), report.primary_position(), table);
  for (const v1::ScoreStatistics& statistics : report.by_kind()) {
    AddScoreRow(Cell(WordOf(statistics.kind()), KindStyle(statistics.kind())), statistics, table);
  }
  return Heading("scores: mean attention received over the blocks that read a sink", terminal) +
         table.Render(terminal);
}

}  // namespace

const AnalysisCommand kScoresAnalysis = {
    .name = "scores",
    .field = "scores",
    .group = "Scores",
    .description = "Attention that each sink receives",
    .shows = "Scores of the sinks",
    .example = "sinkctl scores smollm2-135m --text \"Hello there\" --curves",
    .per_sample = true,
    .takes_scores = true,
    .shows_attention = true,
    .render = Render,
};

}  // namespace sinkd::cli
