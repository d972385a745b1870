// An audit policy.
#include <string_view>

#include "server/audit/policy.h"
#include "tests/fuzz/require.h"

using sinkd::fuzz::Require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view yaml(reinterpret_cast<const char*>(data), size);
  const auto policy = sinkd::ParsePolicy(yaml);
  if (!policy.ok()) {
    sinkd::fuzz::RequireToldError(policy.status());
    return 0;
  }
  Require(!policy->rules.empty() && policy->rules.size() <= sinkd::kMaxRules, "the rules' number");
  for (const sinkd::Rule& rule : policy->rules) {
    Require(rule.measure != nullptr, "a rule without a measure", rule.name);
    Require(rule.test || rule.at_least || rule.at_most, "a rule without a limit", rule.name);
    Require(!sinkd::FirstInvalidUtf8(rule.name), "a name that is no UTF-8", rule.name);
  }
  return 0;
}
