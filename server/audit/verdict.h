// Verdict: what a rule comes to, with its words.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "server/audit/policy.h"

namespace sinkd {

enum class Verdict { kPass, kFail, kNotEnoughData };

// What was found for a rule.
struct Finding {
  std::string missing;                   // why there is not enough data; empty when there is
  std::optional<double> value;           // the candidate's, or that of two sets
  std::optional<double> baseline_value;  // of a measure that one set has
  std::optional<double> judged;          // what the limits are about
  std::string detail;
  int64_t candidate_n = 0;
  int64_t baseline_n = 0;
  std::optional<double> p;
  std::optional<double> adjusted_p;
};

struct RuleResult {
  std::string name;
  std::string measure;
  Verdict verdict = Verdict::kNotEnoughData;
  std::optional<double> value;
  std::optional<double> baseline_value;
  std::string limit;
  std::optional<double> p;
  std::optional<double> adjusted_p;
  std::string reason;
  int64_t candidate_n = 0;
  int64_t baseline_n = 0;
};

// "difference at most 0.05, told apart at 0.05".
std::string LimitText(const Rule& rule, double alpha);

RuleResult Judge(const Rule& rule, const Finding& finding, double alpha);

}  // namespace sinkd
