// Means over samples, and secondary sinks per token: ratios of two sums.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "server/audit/measures.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

using TermsOf = std::function<Terms(const AuditUnit&)>;

class DistanceOfRatios final : public Statistic {
 public:
  DistanceOfRatios(const Pool& pool, const TermsOf& terms_of) {
    for (const AuditUnit* unit : pool.units()) terms_.push_back(terms_of(*unit));
  }

  double At(const Sides& sides) override {
    std::array<Terms, 2> sums{};
    for (size_t i = 0; i < terms_.size(); ++i) {
      sums[sides[i]].above += terms_[i].above;
      sums[sides[i]].below += terms_[i].below;
    }
    // A side that holds nothing is as far from the other as can be.
    if (sums[0].below == 0 || sums[1].below == 0) return HUGE_VAL;
    return std::fabs(sums[0].above / sums[0].below - sums[1].above / sums[1].below);
  }

 private:
  std::vector<Terms> terms_;
};

Measure RatioMeasure(std::string_view name, std::string_view text, TermsOf terms_of) {
  Measure measure;
  measure.name = name;
  measure.text = text;
  measure.count = [terms_of](const MeasureOptions&, UnitSpan units) {
    int64_t count = 0;
    for (const AuditUnit* unit : units) count += terms_of(*unit).below > 0 ? 1 : 0;
    return count;
  };
  measure.read = [terms_of](const MeasureOptions&, UnitSpan units) {
    Terms sums;
    for (const AuditUnit* unit : units) {
      const Terms terms = terms_of(*unit);
      sums.above += terms.above;
      sums.below += terms.below;
    }
    Reading reading;
    if (sums.below > 0) reading.value = sums.above / sums.below;
    return reading;
  };
  measure.statistic = [terms_of](const MeasureOptions&, const Pool& pool) {
    return std::make_unique<DistanceOfRatios>(pool, terms_of);
  };
  measure.weighted = [terms_of](const MeasureOptions&, UnitSpan units) {
    std::vector<Terms> terms;
    for (const AuditUnit* unit : units) terms.push_back(terms_of(*unit));
    return WeightedRatio(std::move(terms));
  };
  return measure;
}

using ValueOf = std::optional<double> (*)(const SecondarySink& sink);

Measure SinkMeasure(std::string_view name, std::string_view text, ValueOf value_of) {
  const TermsOf terms_of = [value_of](const AuditUnit& unit) {
    Terms terms;
    for (const SecondarySink& sink : unit.sinks) {
      const std::optional<double> value = value_of(sink);
      if (!value) continue;
      terms.above += *value;
      terms.below += 1;
    }
    return terms;
  };
  Measure measure = RatioMeasure(name, text, terms_of);
  measure.basis = Basis::kSinks;
  measure.count = [terms_of](const MeasureOptions&, UnitSpan units) {
    double count = 0;
    for (const AuditUnit* unit : units) count += terms_of(*unit).below;
    return static_cast<int64_t>(count);
  };
  return measure;
}

// "by token id: 198 (12), 11 (1)": the tokens that are outliers most often.
std::string TellOutliers(UnitSpan units) {
  constexpr size_t kTold = 5;
  std::map<int32_t, int64_t> counts;
  for (const AuditUnit* unit : units) {
    for (const int32_t id : unit->outlier_ids) ++counts[id];
  }
  std::vector<std::pair<int32_t, int64_t>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (size_t i = 0; i < std::min(order.size(), kTold); ++i) {
    text += StrCat(i == 0 ? "by token id: " : ", ", order[i].first, " (", order[i].second, ")");
  }
  if (order.size() > kTold) text += StrCat(" and ", order.size() - kTold, " more ids");
  return text.empty() ? "no outlier token" : text;
}

Measure OutlierMeasure() {
  Measure measure = RatioMeasure("outliers_per_1000_tokens", "outlier tokens per 1,000 tokens",
                                 [](const AuditUnit& unit) {
                                   return Terms{.above = 1000 * static_cast<double>(unit.outliers),
                                                .below = static_cast<double>(unit.outlier_tokens)};
                                 });
  measure.read = [read = measure.read](const MeasureOptions& options, UnitSpan units) {
    Reading reading = read(options, units);
    reading.detail = reading.value ? TellOutliers(units) : "its records do not count outliers";
    return reading;
  };
  return measure;
}

}  // namespace

void AddNumberMeasures(std::vector<Measure>& measures) {
  measures.push_back(RatioMeasure(
      "secondary_per_1000_tokens", "secondary sinks per 1,000 tokens", [](const AuditUnit& unit) {
        return Terms{.above = 1000 * static_cast<double>(unit.sinks.size()),
                     .below = static_cast<double>(unit.tokens)};
      }));
  measures.push_back(SinkMeasure("secondary_score", "mean score of the secondary sinks",
                                 [](const SecondarySink& sink) { return sink.score; }));
  measures.push_back(
      SinkMeasure("secondary_norm", "mean MLP norm of the secondary sinks",
                  [](const SecondarySink& sink) { return std::optional<double>(sink.mlp_norm); }));
  measures.push_back(OutlierMeasure());
  for (size_t i = 0; i < SampleNumbers().size(); ++i) {
    const SampleNumber& number = SampleNumbers()[i];
    measures.push_back(RatioMeasure(number.measure, number.text, [i](const AuditUnit& unit) {
      return Terms{.above = unit.numbers[i].sum, .below = static_cast<double>(unit.numbers[i].n)};
    }));
  }
}

}  // namespace sinkd
