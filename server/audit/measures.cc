#include "server/audit/measures.h"

namespace sinkd {

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
