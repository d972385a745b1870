// Policy: what an audit asks, read from YAML. docs/audits.md tells the language, and
// docs/policy.schema.json describes it for editors.
//
// Thread-safety: plain values; ParsePolicy is pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "server/audit/measure.h"

namespace sinkd {

// What the limits of a rule are about.
enum class Quantity {
  kValue,       // the candidate's value, or that of a measure of two sets
  kDifference,  // the candidate's less the baseline's
  kRatio,       // the candidate's over the baseline's
};

struct Rule {
  std::string name;
  const Measure* measure = nullptr;  // of Measures()
  Quantity of = Quantity::kValue;
  std::optional<double> at_least;
  std::optional<double> at_most;
  // The two sets are tested for coming from one source. With limits, a rule fails only where both
  // its limit is passed and the test tells the sets apart.
  bool test = false;
  int64_t min_samples = 20;  // in each set, for less there is not enough data
  int64_t min_sinks = 20;    // secondary sinks, for measures of sinks
  MeasureOptions options;

  bool needs_baseline() const { return test || of != Quantity::kValue || measure->of_two(); }
};

struct Policy {
  std::string name;
  double alpha = 0.05;   // chance of failing any test, all rules together, when nothing changed
  int64_t draws = 1999;  // of each permutation test
  std::vector<Rule> rules;
};

inline constexpr size_t kMaxPolicyBytes = 128 << 10;
inline constexpr size_t kMaxRules = 200;

// INVALID_ARGUMENT, reason BAD_POLICY, with line, column, field, value and the way out.
absl::StatusOr<Policy> ParsePolicy(std::string_view yaml);

}  // namespace sinkd
