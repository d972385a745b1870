// What evidence keeps: samples as units, and a bounded number of them.
#include "server/audit/evidence.h"

#include <set>

#include <gtest/gtest.h>

#include "audit_samples.h"

namespace sinkd {
namespace {

using testing::MakeSample;

TEST(EvidenceTest, TakesRecordsOfOneKeyAsOneUnit) {
  Evidence evidence(0);
  evidence.Add("a", MakeSample({{10, 6}, {12, 7}}, 50));
  evidence.Add("a", MakeSample({{10, 6}}, 30));
  evidence.AddFailure("a", true);
  evidence.Add("b", MakeSample({}, 20));
  EXPECT_EQ(evidence.seen(), 4);
  ASSERT_EQ(evidence.units().size(), 2u);
  for (const AuditUnit* unit : evidence.units()) {
    const bool is_a = unit->samples == 2;
    EXPECT_EQ(unit->tokens, is_a ? 80 : 20);
    EXPECT_EQ(unit->sinks.size(), is_a ? 3u : 0u);
    for (size_t i = 0; i < SampleNumbers().size(); ++i) {
      if (SampleNumbers()[i].measure != "non_finite_share") continue;
      EXPECT_EQ(unit->numbers[i].n, is_a ? 3 : 1);
      EXPECT_EQ(unit->numbers[i].sum, is_a ? 1 : 0);
    }
  }
}

TEST(EvidenceTest, CountsOutliersOverTheRecordsThatDo) {
  v1::SampleRecord record = MakeSample({}, 200);
  record.mutable_outliers()->set_count(3);
  for (const int32_t token_id : {7, 7, 9}) {
    record.mutable_outliers()->add_largest()->set_token_id(token_id);
  }
  Evidence evidence(0);
  evidence.Add("a", record);
  evidence.Add("b", MakeSample({}, 999));  // of a version that did not count them
  const Policy policy = testing::ReadPolicyOrDie(
      "name: a\nrules: [{measure: outliers_per_1000_tokens, at_most: 15, min_samples: 1}]");
  const RuleResult rule = testing::AuditOrDie(policy, evidence, nullptr).rules.at(0);
  EXPECT_EQ(rule.value, 15);
  EXPECT_EQ(rule.candidate_n, 1);
  EXPECT_EQ(rule.reason, "15 is within the limit; by token id: 7 (2), 9 (1)");
}

TEST(EvidenceTest, KeepsNoMoreThanItMayAndTheSameSamplesOfTwoSets) {
  const Evidence::Limits limits = {.most_units = 50, .most_sinks = 1000};
  Evidence first(3, limits);
  Evidence second(3, limits);
  for (int i = 0; i < 1000; ++i) {
    first.Add("sample " + std::to_string(i), MakeSample({{10, 6}}));
    second.Add("sample " + std::to_string(999 - i), MakeSample({{10, 6}, {9, 9}}));
  }
  EXPECT_EQ(first.seen(), 1000);
  EXPECT_TRUE(first.drawn());
  ASSERT_EQ(first.units().size(), 50u);
  std::set<uint64_t> kept;
  for (const AuditUnit* unit : first.units()) kept.insert(unit->key);
  for (const AuditUnit* unit : second.units()) EXPECT_TRUE(kept.contains(unit->key));
  EXPECT_FALSE(testing::Gather({MakeSample({})}).drawn());
}

TEST(EvidenceTest, DrawsWithoutRegardToOrderOrContent) {
  // A uniform draw of 100 of 2,000 keeps the first half as often as the second: 50 of it, give or
  // take 4 standard deviations of 4.9.
  Evidence evidence(11, {.most_units = 100, .most_sinks = 100'000});
  for (int i = 0; i < 2000; ++i) {
    evidence.Add(std::to_string(i), MakeSample({}, i < 1000 ? 10 : 20));
  }
  int64_t first_half = 0;
  for (const AuditUnit* unit : evidence.units()) first_half += unit->tokens == 10 ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(first_half), 50, 20);
}

TEST(EvidenceTest, BoundsTheSinksToo) {
  Evidence evidence(0, {.most_units = 100, .most_sinks = 10});
  for (int i = 0; i < 20; ++i) evidence.Add(std::to_string(i), MakeSample({{10, 6}, {11, 6}}));
  EXPECT_EQ(evidence.units().size(), 5u);
  EXPECT_TRUE(evidence.drawn());
}

}  // namespace
}  // namespace sinkd
