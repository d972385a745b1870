#include "server/audit/audit.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "server/audit/interval.h"
#include "server/audit/statistics.h"
#include "server/base/seeded_draws.h"
#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

struct Sets {
  std::vector<const AuditUnit*> candidate;
  std::vector<const AuditUnit*> baseline;
};

std::string TooFew(int64_t found, std::string_view what, std::string_view set, int64_t needed) {
  return StrCat(found, " ", what, " in the ", set, "; the rule asks for ", needed);
}

// Why the sets do not share enough samples, or empty.
std::string SharesTooFew(const Rule& rule, const Sets& sets) {
  if (!rule.measure->of_pairs) return "";
  const auto pairs = static_cast<int64_t>(PairsOf(sets.candidate, sets.baseline).size());
  if (pairs >= rule.min_samples) return "";
  return StrCat(pairs, " samples in both sets; the rule asks for ", rule.min_samples);
}

// Why a set does not hold enough, or empty.
std::string Lacks(const Rule& rule, UnitSpan units, int64_t count, bool counts,
                  std::string_view set) {
  const auto samples = static_cast<int64_t>(units.size());
  if (samples < rule.min_samples) return TooFew(samples, "samples", set, rule.min_samples);
  if (!counts) return "";
  const bool of_sinks = rule.measure->basis == Basis::kSinks;
  const int64_t needed = of_sinks ? rule.min_sinks : rule.min_samples;
  if (count >= needed) return "";
  return TooFew(count, of_sinks ? "usable secondary sinks" : "usable samples", set, needed);
}

// Of a measure that one set has.
void ReadEach(const Rule& rule, const Sets& sets, bool compares, Finding& finding) {
  const Reading candidate = rule.measure->read(rule.options, sets.candidate);
  finding.value = candidate.value;
  finding.detail = candidate.detail;
  if (!candidate.value) {
    finding.missing = StrCat("the candidate has no value: ", candidate.detail);
    return;
  }
  finding.judged = candidate.value;
  if (!compares) return;
  const Reading baseline = rule.measure->read(rule.options, sets.baseline);
  finding.baseline_value = baseline.value;
  if (!baseline.value) {
    finding.missing = StrCat("the baseline has no value: ", baseline.detail);
    return;
  }
  if (!baseline.detail.empty()) {
    finding.detail += StrCat("; baseline ", *baseline.value, ": ", baseline.detail);
  }
  finding.judged = Compared(rule.of, *candidate.value, *baseline.value);
}

Finding Find(const Rule& rule, const Sets& sets) {
  const Measure& measure = *rule.measure;
  Finding finding;
  finding.candidate_n = measure.count(rule.options, sets.candidate);
  finding.missing =
      Lacks(rule, sets.candidate, finding.candidate_n, measure.candidate_counts, "candidate");
  const bool compares = rule.needs_baseline();
  if (compares) {
    finding.baseline_n = measure.count(rule.options, sets.baseline);
    if (finding.missing.empty()) {
      finding.missing =
          Lacks(rule, sets.baseline, finding.baseline_n, measure.baseline_counts, "baseline");
    }
  }
  if (finding.missing.empty()) finding.missing = SharesTooFew(rule, sets);
  if (!finding.missing.empty()) return finding;
  if (!measure.of_two()) {
    ReadEach(rule, sets, compares, finding);
    return finding;
  }
  Reading reading = measure.compare(rule.options, sets.candidate, sets.baseline);
  finding.value = finding.judged = reading.value;
  (reading.value ? finding.detail : finding.missing) = std::move(reading.detail);
  return finding;
}

// One test of the policy, over the draws that all of them share.
struct Test {
  size_t rule = 0;
  std::unique_ptr<Statistic> statistic;
  double found = 0;
  int64_t as_far = 0;  // draws that lie as far apart

  void Count(const Sides& sides) {
    // Sums in another order differ in their last digits.
    if (statistic->At(sides) >= found * (1 - 1e-10)) ++as_far;
  }
};

absl::Status RunTests(const Policy& policy, const Sets& sets, uint64_t seed,
                      const std::function<bool()>& stopped, std::vector<Finding>& findings) {
  const Pool pool(sets.candidate, sets.baseline);
  std::vector<Test> tests;
  for (size_t i = 0; i < policy.rules.size(); ++i) {
    const Rule& rule = policy.rules[i];
    if (!rule.test || !findings[i].missing.empty()) continue;
    Test& test = tests.emplace_back();
    test.rule = i;
    test.statistic = rule.measure->statistic(rule.options, pool);
    test.found = test.statistic->At(pool.sides());
  }
  if (tests.empty()) return absl::OkStatus();
  SeededDraws draws(seed);
  Sides sides = pool.sides();
  for (int64_t draw = 0; draw < policy.draws; ++draw) {
    if (stopped()) return Cancelled("the audit is not wanted any more");
    pool.Redraw(draws, sides);
    for (Test& test : tests) test.Count(sides);
  }
  std::vector<double> p;
  for (const Test& test : tests) {
    p.push_back(static_cast<double>(1 + test.as_far) / static_cast<double>(1 + policy.draws));
  }
  const std::vector<double> adjusted = HolmAdjusted(p);
  for (size_t i = 0; i < tests.size(); ++i) {
    findings[tests[i].rule].p = p[i];
    findings[tests[i].rule].adjusted_p = adjusted[i];
  }
  return absl::OkStatus();
}

// What the limits of `rule` apply to, over weighted pairs; null where it is made of more than
// pairs, or has no interval.
WeightedValue Weighted(const Rule& rule, std::span<const UnitPair> pairs, bool all_paired) {
  const Measure& measure = *rule.measure;
  if (measure.weighted_pairs && (all_paired || measure.of_pairs)) {
    return measure.weighted_pairs(rule.options, pairs);
  }
  if (!measure.weighted || rule.of == Quantity::kValue || !all_paired) return nullptr;
  std::vector<const AuditUnit*> mine, theirs;
  for (const auto& [candidate, baseline] : pairs) {
    mine.push_back(candidate);
    theirs.push_back(baseline);
  }
  return WeightedComparison(rule.of, measure.weighted(rule.options, mine),
                            measure.weighted(rule.options, theirs));
}

absl::Status FindIntervals(const Policy& policy, const Sets& sets, uint64_t seed,
                           const std::function<bool()>& stopped, std::vector<Finding>& findings) {
  const std::vector<UnitPair> pairs = PairsOf(sets.candidate, sets.baseline);
  const bool all_paired =
      pairs.size() == sets.candidate.size() && pairs.size() == sets.baseline.size();
  std::vector<WeightedValue> values;
  std::vector<Finding*> holders;
  for (size_t i = 0; i < policy.rules.size(); ++i) {
    if (!findings[i].missing.empty()) continue;
    WeightedValue value = Weighted(policy.rules[i], pairs, all_paired);
    if (!value) continue;
    values.push_back(std::move(value));
    holders.push_back(&findings[i]);
  }
  SINKD_ASSIGN_OR_RETURN(const std::vector<std::optional<Interval>> intervals,
                         PairedIntervals(values, pairs.size(), policy.draws, seed, stopped));
  for (size_t i = 0; i < holders.size(); ++i) holders[i]->interval = intervals[i];
  return absl::OkStatus();
}

Verdict Overall(const std::vector<RuleResult>& rules) {
  const auto any = [&rules](Verdict verdict) {
    return std::any_of(rules.begin(), rules.end(),
                       [verdict](const RuleResult& rule) { return rule.verdict == verdict; });
  };
  if (any(Verdict::kFail)) return Verdict::kFail;
  return any(Verdict::kNotEnoughData) ? Verdict::kNotEnoughData : Verdict::kPass;
}

void TellOfDraw(const Evidence& evidence, size_t kept, std::string_view set, std::string& reason) {
  if (!evidence.drawn()) return;
  reason += StrCat("; of the ", set, " ", kept, " samples drawn from ", evidence.seen());
}

}  // namespace

absl::Status CheckBaseline(const Policy& policy, bool has_baseline) {
  if (has_baseline) return absl::OkStatus();
  for (const Rule& rule : policy.rules) {
    if (!rule.needs_baseline()) continue;
    return InvalidArgument(StrCat("rule \"", rule.name, "\" compares with a baseline"),
                           {.reason = "BASELINE_NEEDED",
                            .subject = "baseline",
                            .fix = "name baseline runs, or use a policy of fixed limits"});
  }
  return absl::OkStatus();
}

absl::StatusOr<AuditReport> Audit(const Policy& policy, const Evidence& candidate,
                                  const Evidence* baseline, uint64_t seed,
                                  const std::function<bool()>& stopped) {
  SINKD_RETURN_IF_ERROR(CheckBaseline(policy, baseline != nullptr));
  Sets sets;
  sets.candidate = candidate.units();
  if (baseline != nullptr) sets.baseline = baseline->units();
  std::vector<Finding> findings;
  for (const Rule& rule : policy.rules) {
    if (stopped()) return Cancelled("the audit is not wanted any more");
    findings.push_back(Find(rule, sets));
  }
  SINKD_RETURN_IF_ERROR(RunTests(policy, sets, seed, stopped, findings));
  SINKD_RETURN_IF_ERROR(FindIntervals(policy, sets, seed, stopped, findings));
  AuditReport report;
  for (size_t i = 0; i < findings.size(); ++i) {
    RuleResult result = Judge(policy.rules[i], findings[i], policy.alpha);
    TellOfDraw(candidate, sets.candidate.size(), "candidate", result.reason);
    if (policy.rules[i].needs_baseline()) {
      TellOfDraw(*baseline, sets.baseline.size(), "baseline", result.reason);
    }
    report.rules.push_back(std::move(result));
  }
  report.verdict = Overall(report.rules);
  return report;
}

}  // namespace sinkd
