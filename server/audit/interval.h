// Intervals of values that are ratios of sums over samples, when both sets hold the same samples:
// the pairs are drawn with replacement, and a value's interval holds 95% of its values over the
// draws. It says how much the value varies with the choice of samples.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <absl/status/statusor.h>

#include "server/audit/measure.h"
#include "server/base/interval.h"

namespace sinkd {

// What limits on `of` apply to; empty for the ratio of 0 to 0.
std::optional<double> Compared(Quantity of, double candidate, double baseline);

// A value of which to find the interval.
struct PairedValue {
  const Measure* measure = nullptr;  // with pair_terms
  Quantity of = Quantity::kValue;
};

// One per value, over the same draws. Draws without a value do not count; without any, or with
// fewer than two pairs, there is no interval. CANCELLED when `stopped` says so.
absl::StatusOr<std::vector<std::optional<Interval>>> PairedIntervals(
    std::span<const PairedValue> values, std::span<const UnitPair> pairs, int64_t draws,
    uint64_t seed, const std::function<bool()>& stopped);

}  // namespace sinkd
