#include "server/analysis/resampling.h"

#include <algorithm>

namespace sinkd {

const std::vector<int32_t>& Resampling::Draw() {
  std::fill(weights_.begin(), weights_.end(), 0);
  for (size_t i = 0; i < weights_.size(); ++i) ++weights_[draws_.Index(weights_.size())];
  return weights_;
}

std::optional<Interval> PercentileInterval(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double q) {
    const double place = q * static_cast<double>(values.size() - 1);
    const auto below = static_cast<size_t>(place);
    const size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (values[above] - values[below]) * (place - static_cast<double>(below));
  };
  return Interval{quantile(0.025), quantile(0.975)};
}

std::optional<double> BootstrapP(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  const auto over = std::count_if(values.begin(), values.end(), [](double v) { return v >= 0; });
  const auto under = std::count_if(values.begin(), values.end(), [](double v) { return v <= 0; });
  return std::min(1.0, 2.0 * static_cast<double>(1 + std::min(over, under)) /
                           static_cast<double>(1 + values.size()));
}

}  // namespace sinkd
