// Audit: whether the evidence of a candidate meets a policy.
//
// All tests of a policy are permutation tests over samples and use the same draws (pool.h), so that
// p is valid although the sinks of a sample depend on each other: p = (1 + number of draws at least
// as extreme as the observed value) / (1 + draws) (Phipson and Smyth 2010). Holm's correction
// covers all tests with enough data. Thread-safety: pure function.
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
  Verdict verdict = Verdict::kNotEnoughData;  // fail, else not enough data, else pass
  std::vector<RuleResult> rules;              // in the policy's order
};

// INVALID_ARGUMENT (BASELINE_NEEDED) if a rule compares and there is no baseline.
absl::Status CheckBaseline(const Policy& policy, bool has_baseline);

// `baseline` may be null. `stopped` is called often. Errors: those of CheckBaseline;
// CANCELLED.
absl::StatusOr<AuditReport> Audit(const Policy& policy, const Evidence& candidate,
                                  const Evidence* baseline, uint64_t seed,
                                  const std::function<bool()>& stopped);

}  // namespace sinkd
