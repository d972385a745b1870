#include "server/analysis/record_builder.h"

#include <algorithm>
#include <limits>

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

SampleRecord Describe(const SampleFacts& facts, const Trace& trace) {
  SampleRecord record;
  record.sample_index = facts.sample_index;
  record.sample_id = facts.sample_id;
  record.layers = trace.layers;
  record.attention_blocks = trace.attention_blocks;
  record.positions = trace.positions;
  record.prompt_tokens = facts.prompt_tokens;
  record.response_tokens = facts.response_tokens;
  record.chat_rendered = facts.chat_rendered;
  record.token_spans_boundary = facts.token_spans_boundary;
  record.arithmetic = facts.arithmetic;
  return record;
}

void Detect(const v1::DetectionParameters& parameters, bool chat_rendered, const Trace& trace,
            SampleRecord& record) {
  const int64_t primary = FindPrimary(trace, chat_rendered);
  const Window window = FindWindow(trace, primary);
  record.window_start = window.start;
  record.window_end = window.end;
  record.primary = MakePrimary(parameters, trace, primary, window);
  record.sinks = FindSinks(parameters, trace, primary, window);
}

}  // namespace

absl::StatusOr<SampleRecord> BuildRecord(const v1::AnalysisSpec& spec, const SampleFacts& facts,
                                         const Trace& trace,
                                         const std::function<std::string(int32_t)>& token_text) {
  SINKD_RETURN_IF_ERROR(CheckTrace(spec, trace, facts.bfloat16));
  if (facts.token_ids.size() != Trace::At(trace.positions)) {
    return Internal(absl::StrCat("trace of ", trace.positions, " positions for ",
                                 facts.token_ids.size(), " tokens"));
  }
  SampleRecord record = Describe(facts, trace);
  Detect(spec.detection(), facts.chat_rendered, trace, record);
  const auto name_token = [&](Sink& sink) {
    sink.token_id = facts.token_ids[Trace::At(sink.position)];
    if (token_text) sink.token_text = token_text(sink.token_id);
  };
  name_token(record.primary);
  for (Sink& sink : record.sinks) {
    name_token(sink);
    record.undecided |= facts.bfloat16 && sink.margin < kBfloat16Margin;
  }
  for (const AnalysisEntry& analysis : Analyses()) {
    if (analysis.fill && analysis.requested(spec)) analysis.fill(spec, trace, record);
  }
  if (record.portrait && token_text) {
    for (const int32_t id : facts.token_ids) record.portrait->token_texts.push_back(token_text(id));
  }
  record.outliers = FindOutlierTokens(trace, facts.token_ids);
  if (RequiredTrace(spec).attention) {
    record.learned_sink_mass = LearnedSinkMass(trace);
    record.gates = MakeGateMeans(trace, record);
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
