#include "server/audit/measures.h"

#include <utility>

namespace sinkd {

WeightedValue WeightedRatio(std::vector<Terms> terms) {
  return [terms = std::move(terms)](std::span<const int32_t> weights) -> std::optional<double> {
    Terms sums;
    for (size_t i = 0; i < terms.size(); ++i) {
      sums.above += weights[i] * terms[i].above;
      sums.below += weights[i] * terms[i].below;
    }
    if (sums.below == 0) return std::nullopt;
    return sums.above / sums.below;
  };
}

std::span<const Measure> Measures() {
  static const auto& measures = *[] {
    auto* all = new std::vector<Measure>;
    AddNumberMeasures(*all);
    AddLayerMeasures(*all);
    AddLevelMeasures(*all);
    AddValueMeasures(*all);
    AddLineMeasures(*all);
    AddPairMeasures(*all);
    return all;
  }();
  return measures;
}

const std::vector<std::string_view>& MeasureNames() {
  static const auto& names = *[] {
    auto* all = new std::vector<std::string_view>;
    for (const Measure& measure : Measures()) all->push_back(measure.name);
    return all;
  }();
  return names;
}

}  // namespace sinkd
