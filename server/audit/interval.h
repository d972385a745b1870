// Intervals of values over samples that both sets hold: the pairs are drawn with replacement, and a
// value's interval holds 95% of its values over the draws. It says how much the value varies with
// the choice of samples.
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

// What limits on `of` apply to. The ratio of 0 to 0 is 1: nothing changed. Of another value to 0 it
// is infinite.
double Compared(Quantity of, double candidate, double baseline);

// Compared, over the same weights on both sides.
WeightedValue WeightedComparison(Quantity of, WeightedValue candidate, WeightedValue baseline);

// One per value, over the same draws of so many pairs. Draws without a finite value do not count;
// without any, or with fewer than two pairs, there is no interval. CANCELLED when `stopped` says
// so.
absl::StatusOr<std::vector<std::optional<Interval>>> PairedIntervals(
    std::span<const WeightedValue> values, size_t pairs, int64_t draws, uint64_t seed,
    const std::function<bool()>& stopped);

}  // namespace sinkd
