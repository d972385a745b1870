// Where in the model something is in most samples.
#include <algorithm>
#include <map>

#include "server/audit/category_counts.h"
#include "server/audit/measures.h"
#include "server/audit/statistics.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

class DivergenceOfLayers final : public Statistic {
 public:
  DivergenceOfLayers(const Pool& pool, size_t row)
      : counts_(pool.units(), [row](const AuditUnit& unit, const auto& add) {
          std::for_each(unit.layers[row].begin(), unit.layers[row].end(), add);
        }) {}

  double At(const Sides& sides) override {
    const auto& counts = counts_.Count(sides);
    return JensenShannon(counts[kCandidate], counts[kBaseline]);
  }

 private:
  CategoryCounts<int32_t> counts_;
};

// As MostFrequent.
WeightedValue WeightedMostFrequent(size_t row, UnitSpan units) {
  std::vector<std::vector<int32_t>> layers;
  int32_t most = 0;
  for (const AuditUnit* unit : units) {
    layers.push_back(unit->layers[row]);
    for (const int32_t layer : layers.back()) most = std::max(most, layer);
  }
  std::vector<int64_t> counts(static_cast<size_t>(most) + 1);
  return [layers = std::move(layers), counts = std::move(counts)](
             std::span<const int32_t> weights) mutable -> std::optional<double> {
    std::fill(counts.begin(), counts.end(), 0);
    for (size_t i = 0; i < layers.size(); ++i) {
      for (const int32_t layer : layers[i]) counts[static_cast<size_t>(layer)] += weights[i];
    }
    const auto found = std::max_element(counts.begin(), counts.end());
    if (*found == 0) return std::nullopt;
    return static_cast<double>(found - counts.begin());
  };
}

// The layer of most samples; the lowest of several.
Reading MostFrequent(size_t row, UnitSpan units) {
  std::map<int32_t, int64_t> counts;
  int64_t total = 0;
  for (const AuditUnit* unit : units) {
    for (const int32_t layer : unit->layers[row]) ++counts[layer];
    total += static_cast<int64_t>(unit->layers[row].size());
  }
  if (counts.empty()) return {};
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return {.value = most->first,
          .detail = StrCat("layer ", most->first, " in ", most->second, " of ", total, " samples")};
}

}  // namespace

void AddLayerMeasures(std::vector<Measure>& measures) {
  for (size_t row = 0; row < SampleLayers().size(); ++row) {
    Measure measure;
    measure.name = SampleLayers()[row].measure;
    measure.text = SampleLayers()[row].text;
    measure.count = [row](const MeasureOptions&, UnitSpan units) {
      return std::count_if(units.begin(), units.end(),
                           [row](const AuditUnit* unit) { return !unit->layers[row].empty(); });
    };
    measure.read = [row](const MeasureOptions&, UnitSpan units) {
      return MostFrequent(row, units);
    };
    measure.weighted = [row](const MeasureOptions&, UnitSpan units) {
      return WeightedMostFrequent(row, units);
    };
    measure.statistic = [row](const MeasureOptions&, const Pool& pool) {
      return std::make_unique<DivergenceOfLayers>(pool, row);
    };
    measures.push_back(std::move(measure));
  }
}

}  // namespace sinkd
