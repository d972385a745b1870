#include "server/analysis/trace_check.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include <absl/strings/str_cat.h>

#include "server/base/status.h"

namespace sinkd {
namespace {

// One array of a trace, [L, rows, length].
struct Array {
  const char* name;
  const std::vector<float>* values;
  int64_t rows;
  int64_t length;
  bool required;
};

std::vector<Array> Arrays(const v1::AnalysisSpec& spec, const Trace& trace) {
  const TraceRequest request = RequiredTrace(spec);
  const int64_t t = trace.positions;
  return {
      {"state norm", &trace.state_norm, 1, t, true},
      {"cosine with a primary candidate", &trace.candidate_cosine, trace.candidates, t, true},
      {"MLP norm", &trace.mlp_norm, 1, t, true},
      {"attention sum", &trace.attention_sum, trace.heads, t, request.attention},
      {"attention to itself", &trace.attention_self, trace.heads, t, request.attention},
      {"attention sum over the first tokens", &trace.prefix_attention_sum, trace.heads,
       trace.prefix, request.prefix > 0},
      {"gate", &trace.gates, trace.heads, t, false},
      {"row entropy", &trace.row_entropy, trace.heads, 1, request.heads},
      {"largest weight", &trace.row_maximum, trace.heads, 1, request.heads},
      {"attention to the previous token", &trace.previous_attention, trace.heads, 1, request.heads},
      {"attention to the same token", &trace.duplicate_attention, trace.heads, 1, request.heads},
      {"norm of values", &trace.value_norm, trace.heads, t, request.heads},
      {"mass of learned sinks", &trace.learned_sink_mass, trace.heads, 1, false},
  };
}

absl::Status CheckSizes(const v1::AnalysisSpec& spec, const Trace& trace,
                        const std::vector<Array>& arrays) {
  if (trace.candidates != std::min(kPrimaryCandidates, trace.positions)) {
    return Internal(absl::StrCat("trace has ", trace.candidates, " primary candidates for ",
                                 trace.positions, " positions"));
  }
  const int64_t prefix = std::min(RequiredTrace(spec).prefix, trace.positions);
  if (prefix > 0 && trace.prefix != prefix) {
    return Internal(
        absl::StrCat("trace has a prefix of ", trace.prefix, " where ", prefix, " is needed"));
  }
  if (!trace.outlier_ratio.empty() && trace.outlier_ratio.size() != Trace::At(trace.positions)) {
    return Internal(absl::StrCat("trace has ", trace.outlier_ratio.size(),
                                 " ratios of outliers for ", trace.positions, " positions"));
  }
  for (const Array& array : arrays) {
    const auto wanted = Trace::At(trace.layers * array.rows * array.length);
    const bool absent = array.values->empty() && !array.required;
    if (!absent && array.values->size() != wanted) {
      return Internal(absl::StrCat("trace array '", array.name, "' holds ", array.values->size(),
                                   " values, not ", wanted));
    }
  }
  return absl::OkStatus();
}

// By bits, which vectorizes: infinities and NaNs are the values whose exponent bits are all set.
bool AllFinite(const std::vector<float>& values) {
  constexpr uint32_t kExponent = 0x7f800000;
  uint32_t bad = 0;
  for (const float value : values) {
    bad |= static_cast<uint32_t>((std::bit_cast<uint32_t>(value) & kExponent) == kExponent);
  }
  return bad == 0;
}

absl::Status NonFinite(const Array& array, bool bfloat16) {
  const auto bad = std::find_if(array.values->begin(), array.values->end(),
                                [](float value) { return !std::isfinite(value); });
  const int64_t index = bad - array.values->begin();
  const int64_t layer = index / (array.rows * array.length);
  const int64_t position = index % array.length;
  return FailedPrecondition(absl::StrCat("the ", array.name, " at layer ", layer, ", position ",
                                         position, " is not finite"),
                            {.reason = "NON_FINITE_ACTIVATION",
                             .subject = absl::StrCat("layer ", layer, ", position ", position),
                             .value = absl::StrCat(*bad),
                             .fix = bfloat16 ? "load the model in float32, or repair its weights"
                                             : "repair the model's weights: they give values that "
                                               "float32 does not hold"});
}

}  // namespace

absl::Status CheckTrace(const v1::AnalysisSpec& spec, const Trace& trace, bool bfloat16) {
  if (trace.positions < 1) {
    return InvalidArgument("the sample has no tokens",
                           {.reason = "EMPTY_SAMPLE", .subject = "sample", .fix = "send a text"});
  }
  if (trace.layers < 2) {
    return InvalidArgument("a model of one layer has no window in which sinks could show",
                           {.reason = "TOO_FEW_LAYERS",
                            .subject = "model",
                            .value = absl::StrCat(trace.layers),
                            .fix = "use a model of at least 2 layers"});
  }
  const std::vector<Array> arrays = Arrays(spec, trace);
  SINKD_RETURN_IF_ERROR(CheckSizes(spec, trace, arrays));
  for (const Array& array : arrays) {
    if (!AllFinite(*array.values)) return NonFinite(array, bfloat16);
  }
  return absl::OkStatus();
}

}  // namespace sinkd
