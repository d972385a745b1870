#include "client/cli/output/summary_view.h"

#include <algorithm>

#include <fmt/format.h>

#include "client/cli/analyses/analysis_command.h"
#include "client/cli/output/chart.h"
#include "client/cli/output/number_format.h"
#include "client/cli/output/row_mean.h"
#include "client/cli/output/table.h"
#include "client/error_report.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

std::string LearnedSinks(const v1::LearnedSinkReport& report, const SummaryView& view,
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

std::string Gates(const v1::Summary& summary, const SummaryView& view, const Terminal& terminal) {
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

}  // namespace

std::string Heading(const std::string& title, const Terminal& terminal) {
  return '\n' + Paint(terminal.color_out, Style::kBold, title) + '\n';
}

std::string CorrelationText(const v1::Correlation& correlation) {
  if (!correlation.has_value()) {
    const std::string& why = correlation.undefined();
    return "undefined: " + (why.empty() ? std::string("no pairs") : client::MakePrintable(why));
  }
  const std::string p =
      correlation.has_p()
          ? fmt::format("p {}{}, ", correlation.p() == 0.0 ? "" : "= ", PValue(correlation.p()))
          : "";
  return fmt::format("{} ({}n = {})", Fixed(correlation.value(), 4), p, Grouped(correlation.n()));
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
  for (const AnalysisCommand* analysis : AnalysisCommands()) {
    if (!view.sections.contains(analysis) || analysis->render == nullptr) continue;
    text += analysis->render(summary, view, terminal);
  }
  // What the model does with attention by itself.
  const bool attention = std::any_of(view.sections.begin(), view.sections.end(),
                                     [](const auto* each) { return each->shows_attention; });
  if (attention && summary.has_learned_sinks()) {
    text += LearnedSinks(summary.learned_sinks(), view, terminal);
  }
  return attention && summary.has_gates() ? text + Gates(summary, view, terminal) : text;
}

}  // namespace sinkd::cli
