// Measure: a quantity that a rule can judge. measures.h lists them all.
//
// Thread-safety: values of pure functions; a Statistic is used by one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/analysis/regression.h"
#include "server/audit/pool.h"

namespace sinkd {

// What the limits of a rule apply to.
enum class Quantity {
  kValue,       // the candidate's value, or the value of a measure of two sets
  kDifference,  // candidate minus baseline
  kRatio,       // candidate divided by baseline
};

// Options of a rule for its measure.
struct MeasureOptions {
  double min_share = 0.02;                                   // of new_levels, lost_levels
  bool lifetime = false;                                     // of the regression: y is the lifetime
  v1::RegressionForm form = v1::REGRESSION_FORM_LINEAR_LOG;  // of the regression
};

// Distance between the two sides of a pool; larger means further apart.
class Statistic {
 public:
  virtual ~Statistic() = default;
  virtual double At(const Sides& sides) = 0;
};

struct Reading {
  std::optional<double> value;
  std::string detail;  // additional text for the reason; may be empty
};

// A value when the i-th unit, or pair of units, counts weights[i] times; empty where it does not
// exist. Keeps nothing of the units it was made from.
using WeightedValue = std::function<std::optional<double>(std::span<const int32_t> weights)>;

// The two sums that a value is the ratio of, or what one sample adds to them.
struct Terms {
  double above = 0;
  double below = 0;
};

// The ratio of the sums of these terms.
WeightedValue WeightedRatio(std::vector<Terms> terms);

enum class Basis { kSamples, kSinks };  // what a set must have enough of

struct Measure {
  std::string name;  // in a policy
  std::string text;  // "secondary sinks per 1,000 tokens"
  Basis basis = Basis::kSamples;
  // Which sets must have enough of the basis; new levels can be found with an empty baseline.
  bool candidate_counts = true;
  bool baseline_counts = true;
  bool has_share = false;       // has the option min_share
  bool has_regression = false;  // has the options y and form

  // How much of the basis a set has.
  std::function<int64_t(const MeasureOptions&, UnitSpan)> count;
  // The value for one set; empty for a measure of two sets.
  std::function<Reading(const MeasureOptions&, UnitSpan)> read;
  // The value for two sets, for a measure of two sets.
  std::function<Reading(const MeasureOptions&, UnitSpan candidate, UnitSpan baseline)> compare;
  // The statistic of the permutation test.
  std::function<std::unique_ptr<Statistic>(const MeasureOptions&, const Pool&)> statistic;
  // For an interval over pairs (interval.h): the value of one set, or of two. Absent where a
  // measure has none.
  std::function<WeightedValue(const MeasureOptions&, UnitSpan)> weighted;
  std::function<WeightedValue(const MeasureOptions&, std::span<const UnitPair>)> weighted_pairs;
  bool of_pairs = false;  // compares sample by sample, and looks at nothing but pairs

  bool of_two() const { return static_cast<bool>(compare); }
};

}  // namespace sinkd
