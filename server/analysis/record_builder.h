// RecordBuilder: trace in, record out - all analyses of one sample, from one pass.
// Thread-safety: pure functions.
#pragma once

#include <functional>
#include <span>
#include <string>

#include <absl/status/statusor.h>

#include "server/analysis/parameters.h"
#include "server/analysis/records.h"
#include "server/engine/trace.h"

namespace sinkd {

// What the record says of the sample beside the trace.
struct SampleFacts {
  int64_t sample_index = 0;
  std::string sample_id;
  std::span<const int32_t> token_ids;  // [T], borrowed for the call
  int64_t prompt_tokens = 0;
  int64_t response_tokens = 0;
  bool chat_rendered = false;
  bool token_spans_boundary = false;
  bool bfloat16 = false;   // computed in bfloat16: margins under 0.01 are undecided
  std::string arithmetic;  // as in SampleRecord
};

// `token_text` turns a token id into readable text; it is called for sinks, and for all tokens
// of a portrait, and may be empty.
// `trace` must have been made with RequiredTrace(spec). `undecided` looks at the margins of the
// sinks past the primary one: the primary's cosine with itself is 1 at any precision.
// Errors: those of CheckTrace (trace_check.h) - INVALID_ARGUMENT for a model of one layer (no
// window exists) or a sample without tokens, FAILED_PRECONDITION (NON_FINITE_ACTIVATION) naming
// layer and position, INTERNAL for a trace that does not fit `spec` or `facts`.
absl::StatusOr<v1::SampleRecord> BuildRecord(const v1::AnalysisSpec& spec, const SampleFacts& facts,
                                             const Trace& trace,
                                             const std::function<std::string(int32_t)>& token_text);

// alpha[l,h,k] of one (block, head) row, k = 0..T-1, into `out` ([T]); NaN where undefined (the
// last position with exclude_self). For ScoreParameters::all_positions.
void AlphaRow(const v1::ScoreParameters& parameters, const Trace& trace, int64_t block,
              int64_t head, std::span<float> out);

}  // namespace sinkd
