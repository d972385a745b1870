// Audit: whether what was gathered of a candidate is what a policy allows.
//
// All tests of a policy look at the same draws of a permutation test over samples (pool.h), so that
// p is honest although sinks of a sample depend on each other: p = (1 + draws at least as far apart
// as what was found) / (1 + draws) (Phipson and Smyth 2010). Holm's correction goes over all tests
// that had enough data.
// Thread-safety: pure function.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "server/audit/evidence.h"
#include "server/audit/policy.h"
#include "server/audit/verdict.h"

namespace sinkd {

struct AuditReport {
  Verdict verdict = Verdict::kNotEnoughData;  // fails before it lacks data before it passes
  std::vector<RuleResult> rules;              // in the policy's order
};

// INVALID_ARGUMENT (BASELINE_NEEDED) when a rule compares and there is nothing to compare with.
absl::Status CheckBaseline(const Policy& policy, bool has_baseline);

// `baseline` null: there is none. `stopped` is asked often. Errors: those of CheckBaseline;
// CANCELLED.
absl::StatusOr<AuditReport> Audit(const Policy& policy, const Evidence& candidate,
                                  const Evidence* baseline, uint64_t seed,
                                  const std::function<bool()>& stopped);

}  // namespace sinkd
