// How the scores and norms of the secondary sinks are distributed in two sets.
#include <algorithm>
#include <numeric>

#include "server/audit/measures.h"
#include "server/audit/statistics.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

using ValueOf = std::optional<double> (*)(const SecondarySink& sink);

class DistanceOfDistributions final : public Statistic {
 public:
  DistanceOfDistributions(UnitSpan units, ValueOf value_of) {
    std::vector<std::pair<double, uint32_t>> values;
    for (uint32_t i = 0; i < units.size(); ++i) {
      for (const SecondarySink& sink : units[i]->sinks) {
        if (const auto value = value_of(sink)) values.emplace_back(*value, i);
      }
    }
    std::sort(values.begin(), values.end());
    for (const auto& [value, unit] : values) {
      sorted_.push_back(value);
      unit_.push_back(unit);
    }
    sides_.resize(unit_.size());
  }

  double At(const Sides& sides) override {
    for (size_t i = 0; i < unit_.size(); ++i) sides_[i] = sides[unit_[i]];
    return KolmogorovSmirnov(sorted_, sides_);
  }

  // The median of the values on one side; call At first.
  std::string Median(Side side) const {
    const auto count = std::count(sides_.begin(), sides_.end(), side);
    int64_t seen = 0;
    for (size_t i = 0; i < sides_.size(); ++i) {
      if (sides_[i] == side && 2 * ++seen >= count) return StrCat(sorted_[i]);
    }
    return "none";
  }

 private:
  std::vector<double> sorted_;
  std::vector<uint32_t> unit_;
  Sides sides_;  // of the values
};

Measure ValueMeasure(std::string_view name, std::string_view text, ValueOf value_of) {
  Measure measure;
  measure.name = name;
  measure.text = text;
  measure.basis = Basis::kSinks;
  measure.count = [value_of](const MeasureOptions&, UnitSpan units) {
    int64_t count = 0;
    for (const AuditUnit* unit : units) {
      count += std::count_if(unit->sinks.begin(), unit->sinks.end(),
                             [&](const SecondarySink& sink) { return value_of(sink).has_value(); });
    }
    return count;
  };
  measure.compare = [value_of](const MeasureOptions&, UnitSpan candidate, UnitSpan baseline) {
    const Pool pool(candidate, baseline);
    DistanceOfDistributions distance(pool.units(), value_of);
    Reading reading;
    reading.value = distance.At(pool.sides());
    reading.detail =
        StrCat("median ", distance.Median(kCandidate), " against ", distance.Median(kBaseline));
    return reading;
  };
  measure.statistic = [value_of](const MeasureOptions&, const Pool& pool) {
    return std::make_unique<DistanceOfDistributions>(pool.units(), value_of);
  };
  return measure;
}

}  // namespace

void AddValueMeasures(std::vector<Measure>& measures) {
  measures.push_back(ValueMeasure("score_distribution",
                                  "Kolmogorov-Smirnov distance of the secondary sinks' scores",
                                  [](const SecondarySink& sink) { return sink.score; }));
  measures.push_back(ValueMeasure(
      "norm_distribution", "Kolmogorov-Smirnov distance of the secondary sinks' MLP norms",
      [](const SecondarySink& sink) { return std::optional<double>(sink.mlp_norm); }));
}

}  // namespace sinkd
