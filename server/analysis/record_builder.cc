#include "server/analysis/record_builder.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <absl/strings/str_cat.h>

#include "server/analysis/catalog.h"
#include "server/analysis/gates.h"
#include "server/analysis/learned_sinks.h"
#include "server/analysis/outlier_tokens.h"
#include "server/analysis/sink_detection.h"
#include "server/analysis/sink_scores.h"
#include "server/analysis/trace_check.h"
#include "server/base/status.h"

namespace sinkd {
namespace {

// Cosines computed in bfloat16 are no surer than this.
constexpr double kBfloat16Margin = 0.01;

v1::SampleRecord Describe(const SampleFacts& facts, const Trace& trace) {
  v1::SampleRecord record;
  record.set_sample_index(facts.sample_index);
  record.set_sample_id(facts.sample_id);
  record.set_layers(static_cast<int32_t>(trace.layers));
  record.mutable_attention_blocks()->Assign(trace.attention_blocks.begin(),
                                            trace.attention_blocks.end());
  record.set_positions(trace.positions);
  record.set_prompt_tokens(facts.prompt_tokens);
  record.set_response_tokens(facts.response_tokens);
  record.set_chat_rendered(facts.chat_rendered);
  record.set_token_spans_boundary(facts.token_spans_boundary);
  if (!facts.arithmetic.empty()) record.set_arithmetic(facts.arithmetic);
  return record;
}

void Detect(const v1::DetectionParameters& parameters, bool chat_rendered, const Trace& trace,
            v1::SampleRecord& record) {
  const int64_t primary = FindPrimary(trace, chat_rendered).position;
  const Window window = FindWindow(trace, primary);
  record.set_window_start(window.start);
  record.set_window_end(window.end);
  *record.mutable_primary() = MakePrimary(parameters, trace, primary, window);
  for (v1::Sink& sink : FindSinks(parameters, trace, primary, window)) {
    *record.add_sinks() = std::move(sink);
  }
}

}  // namespace

absl::StatusOr<v1::SampleRecord> BuildRecord(
    const v1::AnalysisSpec& spec, const SampleFacts& facts, const Trace& trace,
    const std::function<std::string(int32_t)>& token_text) {
  SINKD_RETURN_IF_ERROR(CheckTrace(spec, trace, facts.bfloat16));
  if (facts.token_ids.size() != Trace::At(trace.positions)) {
    return Internal(absl::StrCat("trace of ", trace.positions, " positions for ",
                                 facts.token_ids.size(), " tokens"));
  }
  v1::SampleRecord record = Describe(facts, trace);
  Detect(spec.detection(), facts.chat_rendered, trace, record);
  const auto name_token = [&](v1::Sink& sink) {
    sink.set_token_id(facts.token_ids[Trace::At(sink.position())]);
    sink.set_token_text(token_text ? token_text(sink.token_id()) : std::string());
  };
  name_token(*record.mutable_primary());
  bool undecided = false;
  for (v1::Sink& sink : *record.mutable_sinks()) {
    name_token(sink);
    undecided |= facts.bfloat16 && sink.margin() < kBfloat16Margin;
  }
  record.set_undecided(undecided);
  for (const AnalysisEntry& analysis : Analyses()) {
    if (analysis.fill && Requested(analysis, spec)) analysis.fill(spec, trace, record);
  }
  if (record.has_portrait() && token_text) {
    for (const int32_t id : facts.token_ids) {
      record.mutable_portrait()->add_token_texts(token_text(id));
    }
  }
  FillOutlierTokens(trace, facts.token_ids, record);
  if (RequiredTrace(spec).attention) {
    FillLearnedSinkMass(trace, record);
    FillGateMeans(trace, record);
  }
  return record;
}

void AlphaRow(const v1::ScoreParameters& parameters, const Trace& trace, int64_t block,
              int64_t head, std::span<float> out) {
  for (int64_t k = 0; k < trace.positions; ++k) {
    out[Trace::At(k)] = HasAlpha(parameters, trace.positions, k)
                            ? static_cast<float>(Alpha(parameters, trace, block, head, k))
                            : std::numeric_limits<float>::quiet_NaN();
  }
}

}  // namespace sinkd
