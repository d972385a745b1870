#include "client/cli/output/summary_view.h"

#include <algorithm>

#include <fmt/format.h>

#include "client/cli/output/chart.h"
#include "client/cli/output/names.h"
#include "client/cli/output/number_format.h"
#include "client/cli/output/record_view.h"
#include "client/cli/output/row_mean.h"
#include "client/cli/output/table.h"
#include "client/error_report.h"

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

// "7", or "7-9".
std::string Span(int first, int last) {
  return first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
}

}  // namespace

std::string Heading(const std::string& title, const Terminal& terminal) {
  return '\n' + Paint(terminal.color_out, Style::kBold, title) + '\n';
}

std::string CorrelationText(const v1::Correlation& correlation) {
  if (!correlation.has_value()) {
    const std::string& why = correlation.undefined();
    return "undefined: " + (why.empty() ? std::string("no pairs") : client::MakePrintable(why));
  }
  return fmt::format("{} (p {}{}, n = {})", Fixed(correlation.value(), 4),
                     correlation.p() == 0.0 ? "" : "= ", PValue(correlation.p()),
                     Grouped(correlation.n()));
}

std::string RenderSummary(const v1::Summary& summary, const SummaryView& view,
                          const Terminal& terminal) {
  std::string text = Paint(terminal.color_out, Style::kBold, "summary") +
                     fmt::format("  {} sample{}, {} tokens", Grouped(summary.samples()),
                                 summary.samples() == 1 ? "" : "s", Grouped(summary.positions()));
  if (summary.undecided_samples() > 0) {
    text += fmt::format(", {} undecided at bfloat16", Grouped(summary.undecided_samples()));
  }
  text += '\n';
  for (const std::string& note : summary.notes()) {
    text += Paint(terminal.color_out, Style::kYellow, "  note: " + client::MakePrintable(note));
    text += '\n';
  }
  const Sections& show = view.sections;
  if (show.scores && summary.has_scores()) text += RenderScores(summary.scores(), terminal);
  if (show.levels && summary.has_levels()) text += RenderLevels(summary.levels(), view, terminal);
  if (show.regress && summary.has_regression()) {
    text += RenderRegression(summary.regression(), view, terminal);
  }
  if (show.compensation && summary.has_compensation()) {
    text += RenderCompensation(summary.compensation(), view, terminal);
  }
  if ((show.scores || show.compensation) && summary.has_learned_sinks()) {
    text += RenderLearnedSinks(summary.learned_sinks(), view, terminal);
  }
  if ((show.scores || show.compensation) && summary.has_gates()) {
    text += RenderGates(summary, view, terminal);
  }
  if (show.rate && summary.has_sink_rate()) {
    text += RenderSinkRate(summary.sink_rate(), view, terminal);
  }
  return text;
}

std::string RenderScores(const v1::ScoreReport& report, const Terminal& terminal) {
  Table table(
      {{"group", Align::kLeft}, {"sinks"}, {"mean"}, {"sd"}, {"min"}, {"max"}, {"not read"}});
  AddScoreRow(Cell("the primary sink", Style::kBold), report.primary_position(), table);
  for (const v1::ScoreStatistics& statistics : report.by_kind()) {
    AddScoreRow(Cell(KindName(statistics.kind()), KindStyle(statistics.kind())), statistics, table);
  }
  return Heading("scores: mean attention received over the blocks that read a sink", terminal) +
         table.Render(terminal);
}

std::string RenderLearnedSinks(const v1::LearnedSinkReport& report, const SummaryView& view,
                               const Terminal& terminal) {
  Table table({{"block"}, {"mass"}, Bars()});
  for (int block = 0; block < report.mass_size(); ++block) {
    const double mass = report.mass(block);
    table.AddRow({std::to_string(block), Fixed(mass, 4),
                  Cell(view.charts ? Bar(mass, 1.0, 30, terminal.unicode) : "", Style::kCyan)});
  }
  return Heading("learned sinks: share of the attention that goes to no position", terminal) +
         table.Render(terminal);
}

std::string RenderGates(const v1::Summary& summary, const SummaryView& view,
                        const Terminal& terminal) {
  const v1::GateReport& gates = summary.gates();
  Table table({{"block"}, {"all"}, {"", Align::kLeft}, {"primary"}, {"secondary"}});
  for (int place = 0; gates.heads() > 0 && (place + 1) * gates.heads() <= gates.all_size();
       ++place) {
    const auto mean = [&](const google::protobuf::RepeatedField<double>& values) -> std::string {
      if ((place + 1) * gates.heads() > values.size()) return kAbsent;
      return Fixed(MeanOfRow(values, place, gates.heads()), 4);
    };
    const double all = MeanOfRow(gates.all(), place, gates.heads());
    const int block =
        place < summary.attention_blocks_size() ? summary.attention_blocks(place) : place;
    table.AddRow({std::to_string(block), mean(gates.all()),
                  Cell(view.charts ? Bar(all, 1.0, 30, terminal.unicode) : "", Style::kCyan),
                  mean(gates.primary()), mean(gates.secondary())});
  }
  return Heading("gates: how much of attention's output is let through, mean over heads",
                 terminal) +
         table.Render(terminal.color_out);
}

std::string RenderSinkRate(const v1::SinkRateReport& report, const SummaryView& view,
                           const Terminal& terminal) {
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

}  // namespace sinkd::cli
