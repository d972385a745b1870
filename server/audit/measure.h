// Measure: one thing that a rule can ask about samples. measures.h lists them all.
//
// Thread-safety: values of pure functions; a Statistic is used by one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/analysis/regression.h"
#include "server/audit/pool.h"

namespace sinkd {

// What a rule may choose about its measure.
struct MeasureOptions {
  double min_share = 0.02;                           // of new_levels, lost_levels
  bool lifetime = false;                             // of the regression: y is not the score
  RegressionForm form = RegressionForm::kLinearLog;  // of the regression
};

// How far the two sides of a pool lie apart: the larger, the further.
class Statistic {
 public:
  virtual ~Statistic() = default;
  virtual double At(const Sides& sides) = 0;
};

struct Reading {
  std::optional<double> value;
  std::string detail;  // what else there is to say, for the reason; may be empty
};

enum class Basis { kSamples, kSinks };  // what has to be there often enough

struct Measure {
  std::string name;  // in a policy
  std::string text;  // "secondary sinks per 1,000 tokens"
  Basis basis = Basis::kSamples;
  // Which sets must have enough of the basis; new levels are found with a baseline of none.
  bool candidate_counts = true;
  bool baseline_counts = true;
  bool has_share = false;       // takes min_share
  bool has_regression = false;  // takes y and form

  // How much of the basis a set holds.
  std::function<int64_t(const MeasureOptions&, UnitSpan)> count;
  // The value of one set; empty for a measure that only two sets have.
  std::function<Reading(const MeasureOptions&, UnitSpan)> read;
  // The value of two sets, for such a measure.
  std::function<Reading(const MeasureOptions&, UnitSpan candidate, UnitSpan baseline)> compare;
  // The statistic of the permutation test.
  std::function<std::unique_ptr<Statistic>(const MeasureOptions&, const Pool&)> statistic;

  bool of_two() const { return static_cast<bool>(compare); }
};

}  // namespace sinkd
