#include "server/audit/interval.h"

#include <cmath>

#include "server/analysis/resampling.h"
#include "server/base/status.h"

namespace sinkd {
namespace {

void Add(const Terms& terms, double weight, Terms& sums) {
  sums.above += weight * terms.above;
  sums.below += weight * terms.below;
}

// One value over the draws.
class DrawnValue {
 public:
  DrawnValue(const PairedValue& value, std::span<const UnitPair> pairs) : of_(value.of) {
    for (const auto& [candidate, baseline] : pairs) {
      terms_.push_back(value.measure->pair_terms(*candidate, *baseline));
    }
  }

  void Add(std::span<const int32_t> weights) {
    PairTerms sums;
    for (size_t i = 0; i < terms_.size(); ++i) {
      if (weights[i] == 0) continue;
      sinkd::Add(terms_[i].candidate, weights[i], sums.candidate);
      sinkd::Add(terms_[i].baseline, weights[i], sums.baseline);
    }
    const std::optional<double> value = ValueOf(sums);
    if (value && std::isfinite(*value)) values_.push_back(*value);
  }

  std::optional<Interval> Result() { return PercentileInterval(std::move(values_)); }

 private:
  std::optional<double> ValueOf(const PairTerms& sums) const {
    if (sums.candidate.below == 0) return std::nullopt;
    const double candidate = sums.candidate.above / sums.candidate.below;
    if (of_ == Quantity::kValue) return candidate;
    if (sums.baseline.below == 0) return std::nullopt;
    return Compared(of_, candidate, sums.baseline.above / sums.baseline.below);
  }

  const Quantity of_;
  std::vector<PairTerms> terms_;
  std::vector<double> values_;
};

}  // namespace

std::optional<double> Compared(Quantity of, double candidate, double baseline) {
  if (of == Quantity::kDifference) return candidate - baseline;
  if (of == Quantity::kValue) return candidate;
  if (baseline != 0) return candidate / baseline;
  if (candidate == 0) return std::nullopt;
  return std::copysign(HUGE_VAL, candidate);
}

absl::StatusOr<std::vector<std::optional<Interval>>> PairedIntervals(
    std::span<const PairedValue> values, std::span<const UnitPair> pairs, int64_t draws,
    uint64_t seed, const std::function<bool()>& stopped) {
  std::vector<std::optional<Interval>> intervals(values.size());
  if (values.empty() || pairs.size() < 2) return intervals;
  std::vector<DrawnValue> drawn;
  for (const PairedValue& value : values) drawn.emplace_back(value, pairs);
  Resampling resampling(seed, pairs.size());
  for (int64_t draw = 0; draw < draws; ++draw) {
    if (stopped()) return Cancelled("the audit is not wanted any more");
    const std::vector<int32_t>& weights = resampling.Draw();
    for (DrawnValue& value : drawn) value.Add(weights);
  }
  for (size_t i = 0; i < drawn.size(); ++i) intervals[i] = drawn[i].Result();
  return intervals;
}

}  // namespace sinkd
