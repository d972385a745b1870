#include "client/cli/output/record_view.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "client/cli/output/chart.h"
#include "client/cli/output/names.h"
#include "client/cli/output/number_format.h"
#include "client/cli/output/table.h"
#include "client/cli/terminal/text_width.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

constexpr int kTokenWidth = 22;
constexpr int kLayersWidth = 16;
constexpr int kMassWidth = 40;

std::string IfPresent(bool present, double value, int digits) {
  return present ? Fixed(value, digits) : kAbsent;
}

// What the other columns leave, within reason.
int CurveWidth(const RecordView& view, const Terminal& terminal) {
  return std::clamp(terminal.width - (view.norms ? 108 : 76), 10, 40);
}

std::string SampleHead(const v1::SampleRecord& record, const Terminal& terminal) {
  std::string title = fmt::format("sample {}", record.sample_index());
  if (!record.sample_id().empty()) {
    title += "  " + QuoteToken(record.sample_id(), 40, terminal.unicode);
  }
  std::string head = Paint(terminal.color_out, Style::kBold, title);
  head += fmt::format("  {} tokens", Grouped(record.positions()));
  if (record.response_tokens() > 0) {
    head += fmt::format(" ({} prompt + {} response)", Grouped(record.prompt_tokens()),
                        Grouped(record.response_tokens()));
  }
  head += fmt::format("  window [{}, {})", record.window_start(), record.window_end());
  if (record.chat_rendered()) head += "  chat";
  if (record.token_spans_boundary()) head += "  one token spans prompt and response";
  if (record.undecided()) {
    head += "  " + Paint(terminal.color_out, Style::kYellow, "undecided at bfloat16");
  }
  return head + '\n';
}

std::vector<Cell> SinkCells(const v1::Sink& sink, bool primary, const RecordView& view,
                            double curve_maximum, const Terminal& terminal) {
  std::vector<Cell> cells = {
      Cell(primary ? (terminal.unicode ? "◆" : "*") : "", Style::kCyan),
      std::to_string(sink.position()),
      Cell(QuoteToken(sink.token_text(), kTokenWidth, terminal.unicode), Style::kBold),
      std::to_string(sink.token_id()),
      Cell(WordOf(sink.kind()), KindStyle(sink.kind())),
      fmt::format("({}, {})", sink.l_start(), sink.lifetime()),
      ShortenToWidth(Runs({sink.layers().data(), static_cast<size_t>(sink.layers_size())}),
                     kLayersWidth, terminal.unicode)};
  if (view.norms) {
    cells.emplace_back(IfPresent(sink.has_margin(), sink.margin(), 4));
    cells.emplace_back(IfPresent(sink.has_mlp_norm(), sink.mlp_norm(), 1));
    cells.emplace_back(IfPresent(sink.has_state_norm(), sink.state_norm(), 1));
  }
  if (view.scores) {
    cells.emplace_back(IfPresent(sink.has_score(), sink.score(), 4));
    cells.emplace_back(IfPresent(sink.has_score_maximum(), sink.score_maximum(), 4));
  }
  if (curve_maximum > 0) {
    const std::span<const float> curve(sink.score_curve().data(),
                                       static_cast<size_t>(sink.score_curve_size()));
    cells.emplace_back(
        Sparkline(curve, curve_maximum, CurveWidth(view, terminal), terminal.unicode));
  }
  return cells;
}

// "  learned sinks take 0.2134 of the attention, by block ..."; nothing for other models.
std::string LearnedSinkLine(const v1::SampleRecord& record, const RecordView& view,
                            const Terminal& terminal) {
  const std::span<const float> mass(record.learned_sink_mass().data(),
                                    static_cast<size_t>(record.learned_sink_mass_size()));
  if (!view.scores || mass.empty()) return {};
  const double mean = std::accumulate(mass.begin(), mass.end(), 0.0) / double(mass.size());
  std::string line = fmt::format("  learned sinks take {} of the attention", Fixed(mean, 4));
  if (view.curves) line += ", by block " + Sparkline(mass, 1.0, kMassWidth, terminal.unicode);
  return line + '\n';
}

double LargestOfCurves(const v1::SampleRecord& record) {
  float largest = 0;
  const auto look = [&](const v1::Sink& sink) {
    for (const float value : sink.score_curve()) largest = std::max(largest, value);
  };
  look(record.primary());
  for (const v1::Sink& sink : record.sinks()) look(sink);
  return static_cast<double>(largest);
}

}  // namespace

Style KindStyle(v1::SinkKind kind) {
  switch (kind) {
    case v1::SINK_KIND_PRIMARY:
      return Style::kCyan;
    case v1::SINK_KIND_SECONDARY:
      return Style::kGreen;
    default:
      return Style::kDim;
  }
}

std::string DetectionText(const v1::DetectionParameters& detection) {
  std::string text = fmt::format("|cos| > {}", detection.cosine_threshold());
  if (detection.min_norm_ratio() > 0) {
    text += fmt::format(", norm >= {} x median", detection.min_norm_ratio());
  }
  text += detection.kind_rule() == v1::KIND_RULE_PUBLISHED ? ", published rule" : ", window rule";
  if (detection.last_state() == v1::LAST_STATE_RAW) text += ", raw last state";
  return text;
}

std::string RenderStarted(const v1::AnalyzeStarted& started, const Terminal& terminal) {
  const v1::DetectionParameters& detection = started.spec().detection();
  std::string line =
      fmt::format("{}  {} blocks x {} heads  {} on {}", started.spec().model(), started.blocks(),
                  started.heads(), started.compute_type(), started.device());
  line += "  " + DetectionText(detection);
  return Paint(terminal.color_out, Style::kDim, line) + '\n';
}

std::string RenderRecord(const v1::SampleRecord& record, const RecordView& view,
                         const Terminal& terminal) {
  std::vector<Column> columns = {{""},
                                 {"pos"},
                                 {"token", Align::kLeft},
                                 {"id"},
                                 {"kind", Align::kLeft},
                                 {"level"},
                                 {"layers", Align::kLeft}};
  const auto add = [&](std::initializer_list<const char*> titles) {
    for (const char* title : titles) columns.push_back({title});
  };
  if (view.norms) add({"margin", "mlp norm", "state norm"});
  if (view.scores) add({"score", "max"});
  const double curve_maximum = view.scores && view.curves ? LargestOfCurves(record) : 0.0;
  if (curve_maximum > 0) columns.push_back({"by block", Align::kLeft});
  Table table(std::move(columns));
  table.AddRow(SinkCells(record.primary(), true, view, curve_maximum, terminal));
  for (const v1::Sink& sink : record.sinks()) {
    table.AddRow(SinkCells(sink, false, view, curve_maximum, terminal));
  }
  return SampleHead(record, terminal) + table.Render(terminal, 1) +
         LearnedSinkLine(record, view, terminal) + '\n';
}

}  // namespace sinkd::cli
