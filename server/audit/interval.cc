#include "server/audit/interval.h"

#include <cmath>
#include <utility>

#include "server/analysis/resampling.h"
#include "server/base/status.h"

namespace sinkd {

double Compared(Quantity of, double candidate, double baseline) {
  if (of == Quantity::kDifference) return candidate - baseline;
  if (of == Quantity::kValue) return candidate;
  if (baseline != 0) return candidate / baseline;
  return candidate == 0 ? 1 : std::copysign(HUGE_VAL, candidate);
}

WeightedValue WeightedComparison(Quantity of, WeightedValue candidate, WeightedValue baseline) {
  return [of, candidate = std::move(candidate), baseline = std::move(baseline)](
             std::span<const int32_t> weights) -> std::optional<double> {
    const std::optional<double> mine = candidate(weights);
    const std::optional<double> theirs = baseline(weights);
    if (!mine || !theirs) return std::nullopt;
    return Compared(of, *mine, *theirs);
  };
}

absl::StatusOr<std::vector<std::optional<Interval>>> PairedIntervals(
    std::span<const WeightedValue> values, size_t pairs, int64_t draws, uint64_t seed,
    const std::function<bool()>& stopped) {
  std::vector<std::optional<Interval>> intervals(values.size());
  if (values.empty() || pairs < 2) return intervals;
  std::vector<std::vector<double>> drawn(values.size());
  Resampling resampling(seed, pairs);
  for (int64_t draw = 0; draw < draws; ++draw) {
    if (stopped()) return Cancelled("the audit is not wanted any more");
    const std::vector<int32_t>& weights = resampling.Draw();
    for (size_t i = 0; i < values.size(); ++i) {
      const std::optional<double> value = values[i](weights);
      if (value && std::isfinite(*value)) drawn[i].push_back(*value);
    }
  }
  for (size_t i = 0; i < drawn.size(); ++i) intervals[i] = PercentileInterval(std::move(drawn[i]));
  return intervals;
}

}  // namespace sinkd
