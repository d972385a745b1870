#include "server/service/audit/codec_audit.h"

namespace sinkd {
namespace {

namespace v1 = ::sinks::v1;

v1::Verdict EncodeVerdict(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return v1::VERDICT_PASS;
    case Verdict::kFail:
      return v1::VERDICT_FAIL;
    case Verdict::kNotEnoughData:
      return v1::VERDICT_NOT_ENOUGH_DATA;
  }
  return v1::VERDICT_UNSPECIFIED;
}

v1::RuleResult EncodeRule(const RuleResult& rule) {
  v1::RuleResult out;
  out.set_name(rule.name);
  out.set_measure(rule.measure);
  out.set_verdict(EncodeVerdict(rule.verdict));
  if (rule.value) out.set_value(*rule.value);
  if (rule.baseline_value) out.set_baseline_value(*rule.baseline_value);
  if (rule.interval) {
    out.mutable_interval()->set_lower(rule.interval->lower);
    out.mutable_interval()->set_upper(rule.interval->upper);
  }
  out.set_limit(rule.limit);
  if (rule.p) out.set_p(*rule.p);
  if (rule.adjusted_p) out.set_adjusted_p(*rule.adjusted_p);
  out.set_reason(rule.reason);
  out.set_candidate_n(rule.candidate_n);
  out.set_baseline_n(rule.baseline_n);
  return out;
}

}  // namespace

v1::AuditRunsResponse EncodeAudit(const AuditReport& report) {
  v1::AuditRunsResponse out;
  out.set_verdict(EncodeVerdict(report.verdict));
  for (const RuleResult& rule : report.rules) *out.add_rules() = EncodeRule(rule);
  return out;
}

}  // namespace sinkd
