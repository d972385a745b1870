// Policy: the rules of an audit, read from YAML. docs/audits.md describes the format, and
// docs/policy.schema.json is its schema for editors.
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

struct Rule {
  std::string name;
  const Measure* measure = nullptr;  // of Measures()
  Quantity of = Quantity::kValue;
  std::optional<double> at_least;
  std::optional<double> at_most;
  // Tests whether the two sets come from the same source. With limits, a rule fails only if the
  // value is outside its limits and the test finds a difference.
  bool test = false;
  int64_t min_samples = 20;  // in each set; with fewer there is not enough data
  int64_t min_sinks = 20;    // secondary sinks, for measures of sinks
  MeasureOptions options;

  bool needs_baseline() const { return test || of != Quantity::kValue || measure->of_two(); }
};

struct Policy {
  std::string name;
  double alpha = 0.05;   // probability that any test fails although nothing changed
  int64_t draws = 1999;  // per permutation test
  std::vector<Rule> rules;
};

inline constexpr size_t kMaxPolicyBytes = 128 << 10;
inline constexpr size_t kMaxRules = 200;

// INVALID_ARGUMENT, reason BAD_POLICY, with line, column, field, value and a fix.
absl::StatusOr<Policy> ParsePolicy(std::string_view yaml);

}  // namespace sinkd
