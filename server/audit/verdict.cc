#include "server/audit/verdict.h"

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
  if (!HasLimits(rule)) return StrCat("not told apart at ", alpha);
  return StrCat(text, ", or not told apart at ", alpha);
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
    failed = failed && *finding.adjusted_p < alpha;
    Add(result.reason, TestText(finding, alpha));
  }
  Add(result.reason, finding.detail);
  result.verdict = failed ? Verdict::kFail : Verdict::kPass;
  return result;
}

}  // namespace sinkd
