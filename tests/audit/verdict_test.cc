// Verdicts of single rules: limits, differences, ratios, and what is not enough data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audit_samples.h"
#include "server/base/status.h"

namespace sinkd {
namespace {

using testing::AuditOrDie;
using ::testing::HasSubstr;
using testing::MakeSample;
using testing::ReadPolicyOrDie;

Policy OneRule(const std::string& fields) {
  return ReadPolicyOrDie("name: a\nrules: [{" + fields + "}]");
}

// `count` samples of 100 tokens with these levels each.
Evidence Samples(int count, const std::vector<Level>& levels, const std::string& prefix = "s") {
  Evidence evidence(0);
  for (int i = 0; i < count; ++i) evidence.Add(prefix + std::to_string(i), MakeSample(levels));
  return evidence;
}

RuleResult Only(const AuditReport& report) {
  EXPECT_EQ(report.rules.size(), 1u);
  EXPECT_EQ(report.verdict, report.rules.front().verdict);
  return report.rules.front();
}

TEST(VerdictTest, HoldsAFixedLimitFromBothEnds) {
  const Evidence found = Samples(20, {{10, 6}, {12, 7}});  // 20 a thousand tokens
  const auto verdict = [&found](const std::string& limit) {
    return Only(
        AuditOrDie(OneRule("measure: secondary_per_1000_tokens, " + limit), found, nullptr));
  };
  EXPECT_EQ(verdict("at_most: 20, at_least: 20").verdict, Verdict::kPass);
  EXPECT_EQ(verdict("at_most: 19.9").verdict, Verdict::kFail);
  EXPECT_EQ(verdict("at_least: 20.1").verdict, Verdict::kFail);
  const RuleResult failed = verdict("at_least: 20.1, at_most: 30");
  EXPECT_EQ(failed.value, 20);
  EXPECT_EQ(failed.limit, "at least 20.1 and at most 30");
  EXPECT_EQ(failed.reason, "20 is under 20.1");
  EXPECT_EQ(failed.candidate_n, 20);
  EXPECT_FALSE(failed.p.has_value());
}

TEST(VerdictTest, NeverPassesWithoutEnoughData) {
  const std::string rule = "measure: secondary_per_1000_tokens, at_most: 1000, min_samples: 30";
  const RuleResult few = Only(AuditOrDie(OneRule(rule), Samples(29, {}), nullptr));
  EXPECT_EQ(few.verdict, Verdict::kNotEnoughData);
  EXPECT_EQ(few.reason, "29 samples in the candidate; the rule asks for 30");
  EXPECT_FALSE(few.value.has_value());
  EXPECT_EQ(Only(AuditOrDie(OneRule(rule), Samples(30, {}), nullptr)).verdict, Verdict::kPass);

  const Evidence rich = Samples(40, {{10, 6}});
  const Evidence poor = Samples(40, {});
  const std::string divergence = "measure: level_divergence, at_most: 1";
  EXPECT_THAT(Only(AuditOrDie(OneRule(divergence), rich, &poor)).reason,
              HasSubstr("0 usable secondary sinks in the baseline"));
  EXPECT_THAT(
      Only(AuditOrDie(OneRule("measure: weakest_norm_layer, at_most: 9"), rich, nullptr)).reason,
      HasSubstr("0 usable samples"))
      << "without curves";
  const Evidence nothing(0);
  EXPECT_EQ(
      Only(AuditOrDie(OneRule("measure: failed_share, at_most: 1"), nothing, nullptr)).verdict,
      Verdict::kNotEnoughData);
}

TEST(VerdictTest, LosesAllLevelsOfABaselineEvenWhenNoSinkIsLeft) {
  const Evidence all = Samples(40, {{10, 6}, {12, 7}});
  const Evidence none = Samples(40, {});
  const RuleResult lost =
      Only(AuditOrDie(OneRule("measure: lost_levels, at_most: 0, test: true"), none, &all));
  EXPECT_EQ(lost.verdict, Verdict::kFail);
  EXPECT_EQ(lost.value, 2);
  EXPECT_THAT(lost.reason, HasSubstr("(10, 6) with 50%, (12, 7) with 50%"));
  EXPECT_EQ(lost.limit, "at most 0, or p at least 0.05");
}

TEST(VerdictTest, ComparesByDifferenceAndRatio) {
  const Evidence two = Samples(20, {{10, 6}, {12, 7}});
  const Evidence one = Samples(20, {{10, 6}});
  const Evidence none = Samples(20, {});
  const auto verdict = [](const std::string& limit, const Evidence& candidate,
                          const Evidence& baseline) {
    return Only(
        AuditOrDie(OneRule("measure: secondary_per_1000_tokens, " + limit), candidate, &baseline));
  };
  EXPECT_EQ(verdict("of: difference, at_most: 10", two, one).verdict, Verdict::kPass);
  EXPECT_EQ(verdict("of: difference, at_most: 9", two, one).verdict, Verdict::kFail);
  EXPECT_EQ(verdict("of: ratio, at_most: 2", two, one).verdict, Verdict::kPass);
  EXPECT_EQ(verdict("of: ratio, at_least: 0.6", one, two).reason, "ratio 0.5 is under 0.6");
  EXPECT_EQ(verdict("of: ratio, at_most: 5", one, two).baseline_value, 20);
  EXPECT_EQ(verdict("of: ratio, at_most: 5", one, none).verdict, Verdict::kFail) << "from nothing";
  const RuleResult nothing = verdict("of: ratio, at_least: 0.9, at_most: 1.1", none, none);
  EXPECT_EQ(nothing.verdict, Verdict::kPass);
  EXPECT_EQ(nothing.reason, "ratio 1 is within the limit");
}

TEST(VerdictTest, CountsSamplesThatFailed) {
  Evidence evidence = Samples(90, {});
  for (int i = 0; i < 10; ++i) evidence.AddFailure("bad " + std::to_string(i), i < 2);
  const Policy policy = ReadPolicyOrDie(
      "name: a\nrules:\n- {measure: failed_share, at_most: 0.05}\n"
      "- {measure: non_finite_share, at_most: 0.05}\n- {measure: undecided_share, at_most: 0}");
  const AuditReport report = AuditOrDie(policy, evidence, nullptr);
  EXPECT_EQ(report.rules[0].value, 0.1);
  EXPECT_EQ(report.rules[1].value, 0.02);
  EXPECT_EQ(report.rules[2].candidate_n, 90);
  EXPECT_THAT(testing::NamesWith(report, Verdict::kFail), ::testing::ElementsAre("failed_share"));
  EXPECT_EQ(report.verdict, Verdict::kFail);
}

TEST(VerdictTest, PutsAFailureBeforeMissingDataBeforeAPass) {
  const std::string pass = "- {name: p, measure: failed_share, at_most: 1}\n";
  const std::string fail = "- {name: f, measure: failed_share, at_least: 1}\n";
  const std::string lacks = "- {name: l, measure: failed_share, at_most: 1, min_samples: 99}\n";
  const Evidence evidence = Samples(20, {});
  const auto verdict = [&evidence](const std::string& rules) {
    return AuditOrDie(ReadPolicyOrDie("name: a\nrules:\n" + rules), evidence, nullptr).verdict;
  };
  EXPECT_EQ(verdict(pass), Verdict::kPass);
  EXPECT_EQ(verdict(pass + lacks), Verdict::kNotEnoughData);
  EXPECT_EQ(verdict(lacks + fail + pass), Verdict::kFail);
}

TEST(VerdictTest, RefusesToCompareWithNothing) {
  const auto report = Audit(OneRule("name: x, measure: failed_share, test: true"), Samples(20, {}),
                            nullptr, 0, [] { return false; });
  EXPECT_EQ(report.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(GetErrorDetail(report.status())->reason, "BASELINE_NEEDED");
  EXPECT_THAT(std::string(report.status().message()), HasSubstr("rule \"x\""));
}

TEST(VerdictTest, StopsWhenItIsNotWanted) {
  const Evidence evidence = Samples(20, {});
  int asked = 0;
  const auto report = Audit(OneRule("measure: failed_share, test: true"), evidence, &evidence, 0,
                            [&asked] { return ++asked > 50; });
  EXPECT_EQ(report.status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(asked, 51);
}

TEST(VerdictTest, SaysWhenItLookedAtADrawOfTheSamples) {
  Evidence evidence(0, {.most_units = 30, .most_sinks = 1000});
  for (int i = 0; i < 100; ++i) evidence.Add(std::to_string(i), MakeSample({}));
  EXPECT_THAT(
      Only(AuditOrDie(OneRule("measure: failed_share, at_most: 0"), evidence, nullptr)).reason,
      HasSubstr("of the candidate 30 samples drawn from 100"));
}

}  // namespace
}  // namespace sinkd
