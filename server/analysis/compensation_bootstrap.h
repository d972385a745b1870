// Bootstrap intervals of the compensation report: samples (not pairs) are drawn with replacement.
//
// Draws and intervals are those of resampling.h. Draws in which a correlation does not exist (no
// variance) do not count for its interval; fewer than two samples give no intervals.
//
// Work: a draw costs about 2*S*L + 4*pairs steps. Where all draws together would cost more than
// kBootstrapSteps (about 1,000 samples of a 48-layer model at 1,000 draws and up), fewer are made,
// but at least kFewestDraws; `draws` says how many.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "server/analysis/parameters.h"
#include "server/analysis/records.h"
#include "server/analysis/sink_detection.h"
#include "server/base/interval.h"

namespace sinkd {

inline constexpr int64_t kBootstrapSteps = int64_t{1} << 28;
inline constexpr int64_t kFewestDraws = 100;

using CompensationCurve =
    const google::protobuf::RepeatedField<float>& (v1::CompensationCurves::*)() const;

// What the report keeps of one sample.
struct CompensationSample {
  Window window;
  std::vector<int32_t> blocks;  // [A] that the curves of attention are of
  v1::CompensationCurves curves;

  std::span<const float> Curve(CompensationCurve curve) const { return SpanOf((curves.*curve)()); }
  bool InWindow(size_t i) const { return blocks[i] >= window.start && blocks[i] < window.end; }
};

struct CompensationIntervals {
  int64_t draws = 0;
  std::vector<Interval> primary, secondary;  // [A] of the means over samples; empty without draws
  std::optional<Interval> pearson, spearman;
  std::optional<double> pearson_p, spearman_p;  // from the same draws
};

// `samples` in a canonical order, all with the same blocks. The correlations are those between
// primary and secondary mass over all pairs of a sample and a block
// with attention in its window.
CompensationIntervals Bootstrap(const v1::CompensationParameters& parameters,
                                std::span<const CompensationSample* const> samples);

}  // namespace sinkd
