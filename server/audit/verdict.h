// Verdict: the verdict of a rule, and its text.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "server/audit/policy.h"
#include "server/base/interval.h"

namespace sinkd {

enum class Verdict { kPass, kFail, kNotEnoughData };

// The findings for a rule.
struct Finding {
  std::string missing;                   // why there is not enough data; empty if there is
  std::optional<double> value;           // the candidate's, or that of two sets
  std::optional<double> baseline_value;  // for a measure of one set
  std::optional<double> judged;          // what the limits apply to
  std::optional<Interval> interval;      // of `judged`, over pairs of samples
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
  std::optional<Interval> interval;
  std::string limit;
  std::optional<double> p;
  std::optional<double> adjusted_p;
  std::string reason;
  int64_t candidate_n = 0;
  int64_t baseline_n = 0;
};

// "difference at most 0.05, or p at least 0.05".
std::string LimitText(const Rule& rule, double alpha);

RuleResult Judge(const Rule& rule, const Finding& finding, double alpha);

}  // namespace sinkd
