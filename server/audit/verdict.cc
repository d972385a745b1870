#include "server/audit/verdict.h"

#include <cmath>

#include "server/base/str_cat.h"

namespace sinkd {
namespace {

bool HasLimits(const Rule& rule) {
  return rule.at_least || rule.at_most;
}

std::string_view QuantityText(Quantity of) {
  switch (of) {
    case Quantity::kDifference:
      return "difference ";
    case Quantity::kRatio:
      return "ratio ";
    case Quantity::kValue:
      return "";
  }
  return "";
}

// Where the judged value is beyond a limit; empty when it is within.
std::string Beyond(const Rule& rule, double judged) {
  if (rule.at_least && !(judged >= *rule.at_least)) return StrCat("under ", *rule.at_least);
  if (rule.at_most && !(judged <= *rule.at_most)) return StrCat("over ", *rule.at_most);
  return "";
}

// Whether the interval holds values within the limits, so that the change may be smaller than it
// looks.
bool ReachesWithin(const Rule& rule, const Finding& finding) {
  if (!finding.interval || !HasLimits(rule)) return false;
  return finding.interval->upper >= rule.at_least.value_or(-HUGE_VAL) &&
         finding.interval->lower <= rule.at_most.value_or(HUGE_VAL);
}

std::string TestText(const Finding& finding, double alpha) {
  return StrCat("p ", *finding.p, ", ", *finding.adjusted_p, " corrected, is ",
                *finding.adjusted_p < alpha ? "under " : "not under ", alpha);
}

void Add(std::string& text, std::string_view more) {
  if (more.empty()) return;
  text += StrCat(text.empty() ? "" : "; ", more);
}

std::string LimitReason(const Rule& rule, const Finding& finding) {
  const std::string beyond = Beyond(rule, *finding.judged);
  return StrCat(QuantityText(rule.of), *finding.judged, " is ",
                beyond.empty() ? "within the limit" : beyond);
}

}  // namespace

std::string LimitText(const Rule& rule, double alpha) {
  std::string text(HasLimits(rule) ? QuantityText(rule.of) : "");
  if (rule.at_least) text += StrCat("at least ", *rule.at_least);
  if (rule.at_least && rule.at_most) text += " and ";
  if (rule.at_most) text += StrCat("at most ", *rule.at_most);
  if (!rule.test) return text;
  return StrCat(text, text.empty() ? "" : ", or ", "p at least ", alpha);
}

RuleResult Judge(const Rule& rule, const Finding& finding, double alpha) {
  RuleResult result{.name = rule.name,
                    .measure = rule.measure->name,
                    .verdict = Verdict::kNotEnoughData,
                    .value = finding.value,
                    .baseline_value = finding.baseline_value,
                    .interval = finding.interval,
                    .limit = LimitText(rule, alpha),
                    .p = finding.p,
                    .adjusted_p = finding.adjusted_p,
                    .reason = finding.missing,
                    .candidate_n = finding.candidate_n,
                    .baseline_n = finding.baseline_n};
  if (!finding.missing.empty()) return result;
  bool failed = true;
  if (HasLimits(rule)) {
    failed = !Beyond(rule, *finding.judged).empty();
    Add(result.reason, LimitReason(rule, finding));
  }
  if (rule.test) {
    Add(result.reason, TestText(finding, alpha));
    if (failed && ReachesWithin(rule, finding)) {
      failed = false;
      Add(result.reason, "its interval reaches into the limits");
    }
    failed = failed && *finding.adjusted_p < alpha;
  }
  Add(result.reason, finding.detail);
  result.verdict = failed ? Verdict::kFail : Verdict::kPass;
  return result;
}

}  // namespace sinkd
