// The ready policies on planted sinks: nothing is found where nothing changed, and what changed is
// named.
#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audit_samples.h"

namespace sinkd {
namespace {

using testing::AuditOrDie;
using ::testing::Contains;
using ::testing::Each;
using testing::Gather;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using testing::NamesWith;
using testing::PlantedSet;
using testing::PolicyText;
using testing::ReadPolicyOrDie;

// Of 200 draws at 5%, the 99.9% quantile of the binomial distribution (scipy.stats.binom).
constexpr int kResamplings = 200;
constexpr int kMostByChance = 21;

Policy ReleaseGate() {
  return ReadPolicyOrDie(PolicyText("release-gate.yaml"));
}

const RuleResult& RuleOf(const AuditReport& report, std::string_view name) {
  const auto found = std::find_if(report.rules.begin(), report.rules.end(),
                                  [&](const RuleResult& rule) { return rule.name == name; });
  EXPECT_NE(found, report.rules.end()) << name;
  return *found;
}

AuditReport CompareWithTable(std::vector<v1::SampleRecord> candidate) {
  const Evidence baseline = Gather(PlantedSet("table"));
  return AuditOrDie(ReleaseGate(), Gather(candidate), &baseline);
}

TEST(PlantedTest, PassesAModelComparedWithItself) {
  const AuditReport report = CompareWithTable(PlantedSet("table"));
  EXPECT_EQ(report.verdict, Verdict::kPass);
  EXPECT_EQ(NamesWith(report, Verdict::kPass).size(), report.rules.size());
  for (const RuleResult& rule : report.rules) {
    EXPECT_EQ(rule.p.value_or(1), 1) << rule.name;
  }
}

TEST(PlantedTest, NamesALevelThatMoved) {
  const AuditReport report = CompareWithTable(PlantedSet("moved"));
  EXPECT_EQ(report.verdict, Verdict::kFail);
  EXPECT_THAT(
      NamesWith(report, Verdict::kFail),
      ::testing::IsSupersetOf({"no new levels", "no lost levels", "levels keep their shares"}));
  EXPECT_THAT(RuleOf(report, "no new levels").reason, HasSubstr("(11, 12) with"));
  EXPECT_THAT(RuleOf(report, "no lost levels").reason, HasSubstr("(9, 20) with"));
  EXPECT_EQ(RuleOf(report, "secondary sinks per 1,000 tokens").verdict, Verdict::kPass);
}

TEST(PlantedTest, NamesALevelThatIsGone) {
  const AuditReport report = CompareWithTable(PlantedSet("removed"));
  EXPECT_EQ(report.verdict, Verdict::kFail);
  EXPECT_THAT(NamesWith(report, Verdict::kFail), Contains("no lost levels"));
  EXPECT_THAT(RuleOf(report, "no lost levels").reason, HasSubstr("(12, 6) with"));
  EXPECT_EQ(RuleOf(report, "no new levels").verdict, Verdict::kPass);
}

TEST(PlantedTest, NamesALevelThatWasAdded) {
  const AuditReport report = CompareWithTable(PlantedSet("added"));
  EXPECT_EQ(report.verdict, Verdict::kFail);
  EXPECT_THAT(NamesWith(report, Verdict::kFail), Contains("no new levels"));
  EXPECT_THAT(RuleOf(report, "no new levels").reason, HasSubstr("(20, 6) with"));
  EXPECT_EQ(RuleOf(report, "no lost levels").verdict, Verdict::kPass);
}

TEST(PlantedTest, NamesALevelThatIsWeaker) {
  const AuditReport report = CompareWithTable(PlantedSet("weakened"));
  EXPECT_EQ(report.verdict, Verdict::kFail);
  EXPECT_THAT(RuleOf(report, "no lost levels").reason, HasSubstr("(14, 15) with"));
  EXPECT_THAT(RuleOf(report, "no new levels").reason, HasSubstr("(14, 7) with"));
  EXPECT_THAT(NamesWith(report, Verdict::kFail), Contains("no lost levels"));
}

TEST(PlantedTest, NamesAPrimarySinkThatIsWeakerAndWhere) {
  std::vector<v1::SampleRecord> records = PlantedSet("table");
  for (v1::SampleRecord& record : records) {
    record.mutable_primary()->set_score(record.primary().score() * 0.8);
    record.mutable_compensation()->set_primary(22, 0.1F);
  }
  const AuditReport report = CompareWithTable(records);
  EXPECT_THAT(
      NamesWith(report, Verdict::kFail),
      ::testing::ElementsAre("attention to the primary sink", "least attention to the primary sink",
                             "layer of the least attention"));
  EXPECT_EQ(RuleOf(report, "layer of the least attention").value, 22);
  EXPECT_EQ(RuleOf(report, "layer of the least attention").baseline_value, 16);
}

TEST(PlantedTest, NamesScoresAndASlopeThatChanged) {
  std::vector<v1::SampleRecord> records = PlantedSet("table");
  for (v1::SampleRecord& record : records) {
    for (v1::Sink& sink : *record.mutable_sinks()) sink.set_score(sink.score() * 0.5);
  }
  const AuditReport report = CompareWithTable(records);
  EXPECT_THAT(
      NamesWith(report, Verdict::kFail),
      ::testing::ElementsAre("scores of the secondary sinks", "slope of score on MLP norm"));
  EXPECT_NEAR(*RuleOf(report, "slope of score on MLP norm").baseline_value, 0.01, 0.001);
}

AuditReport CompareOneByOne(const std::string& name) {
  const Evidence baseline = Gather(PlantedSet("table"));
  return AuditOrDie(ReadPolicyOrDie(PolicyText("quantized-release.yaml")), Gather(PlantedSet(name)),
                    &baseline);
}

TEST(PlantedTest, FindsEverySinkAgainInTheSameModel) {
  const AuditReport report = CompareOneByOne("table");
  EXPECT_EQ(report.verdict, Verdict::kPass);
  const RuleResult& norms = RuleOf(report, "MLP norms of shared secondary sinks");
  EXPECT_EQ(norms.value, 1);
  EXPECT_EQ(norms.interval->lower, 1);
  EXPECT_EQ(norms.interval->upper, 1);
}

TEST(PlantedTest, NamesSinksThatAreLostGainedAndMovedOneByOne) {
  // Counts that tests/testing/audit_samples.py prints: 4271 secondary sinks, 3895 and 4665.
  const AuditReport removed = CompareOneByOne("removed");
  EXPECT_THAT(RuleOf(removed, "secondary sinks lost").reason, HasSubstr("; 376 of 4271"));
  EXPECT_EQ(RuleOf(removed, "secondary sinks gained").value, 0);
  EXPECT_EQ(RuleOf(removed, "secondary sinks at another level").value, 0);
  const AuditReport added = CompareOneByOne("added");
  EXPECT_THAT(RuleOf(added, "secondary sinks gained").reason, HasSubstr("; 394 of 4271"));
  EXPECT_EQ(RuleOf(added, "secondary sinks lost").value, 0);
  const AuditReport moved = CompareOneByOne("moved");
  EXPECT_EQ(RuleOf(moved, "secondary sinks lost").value, 0);
  const RuleResult& later = RuleOf(moved, "layers that they start later");
  const RuleResult& level = RuleOf(moved, "secondary sinks at another level");
  EXPECT_NEAR(*later.value, 2 * *level.value, 1e-12) << "each moved by two layers";
  EXPECT_GT(*level.value, 0);
  EXPECT_LT(level.interval->lower, *level.value);
  EXPECT_GT(level.interval->upper, *level.value);
}

TEST(PlantedTest, TellsTheSameSeedTheSameStory) {
  const Evidence baseline = Gather(PlantedSet("table"));
  const Evidence candidate = Gather(PlantedSet("moved"));
  const AuditReport once = AuditOrDie(ReleaseGate(), candidate, &baseline, 5);
  const AuditReport again = AuditOrDie(ReleaseGate(), candidate, &baseline, 5);
  for (size_t i = 0; i < once.rules.size(); ++i) {
    EXPECT_EQ(once.rules[i].p, again.rules[i].p);
    EXPECT_EQ(once.rules[i].reason, again.rules[i].reason);
  }
}

// Two disjoint draws of `size` records each.
std::pair<Evidence, Evidence> DrawTwo(std::vector<v1::SampleRecord>& records, size_t size,
                                      std::mt19937_64& generator) {
  std::shuffle(records.begin(), records.end(), generator);
  Evidence first(0);
  Evidence second(0);
  for (size_t i = 0; i < 2 * size; ++i) {
    (i < size ? first : second).Add(records[i].sample_id(), records[i]);
  }
  return {std::move(first), std::move(second)};
}

TEST(PlantedTest, FailsAtMostOneInTwentyResamplingsOfTheSameModel) {
  Policy gate = ReleaseGate();
  gate.draws = 399;
  // The same tests without limits, which then decide alone.
  Policy tests = gate;
  std::erase_if(tests.rules, [](const Rule& rule) { return !rule.test; });
  for (Rule& rule : tests.rules) rule.at_least = rule.at_most = std::nullopt;
  std::vector<v1::SampleRecord> records = PlantedSet("table");
  std::mt19937_64 generator(20260101);
  int gate_failed = 0;
  int tests_failed = 0;
  std::vector<int> small_p(tests.rules.size());
  for (int i = 0; i < kResamplings; ++i) {
    const auto [candidate, baseline] = DrawTwo(records, 150, generator);
    const auto seed = static_cast<uint64_t>(i);
    gate_failed += AuditOrDie(gate, candidate, &baseline, seed).verdict == Verdict::kPass ? 0 : 1;
    const AuditReport report = AuditOrDie(tests, candidate, &baseline, seed);
    tests_failed += report.verdict == Verdict::kPass ? 0 : 1;
    for (size_t rule = 0; rule < small_p.size(); ++rule) {
      small_p[rule] += *report.rules[rule].p < 0.05 ? 1 : 0;
    }
  }
  EXPECT_LE(gate_failed, kResamplings / 20);
  EXPECT_LE(tests_failed, kMostByChance);
  EXPECT_THAT(small_p, Each(Le(kMostByChance)));
  RecordProperty("gate_failed", gate_failed);
  RecordProperty("tests_failed", tests_failed);
  for (size_t rule = 0; rule < small_p.size(); ++rule) {
    RecordProperty(tests.rules[rule].measure->name, small_p[rule]);
  }
}

TEST(PlantedTest, TakesSamplesAndNotSinksForTheUnit) {
  // Every sample holds one level twelve times. Over 3 levels chi-square's 95% quantile is 5.99
  // (scipy.stats.chi2), which sinks taken one by one pass in most draws of the same source.
  constexpr double kQuantile = 5.99;
  const Policy policy =
      ReadPolicyOrDie("name: a\ndraws: 199\nrules: [{measure: level_chi_square, test: true}]");
  std::mt19937_64 generator(4);
  std::vector<v1::SampleRecord> records;
  for (int i = 0; i < 400; ++i) {
    const Level level = {10 + static_cast<int32_t>(generator() % 3), 6};
    records.push_back(testing::MakeSample(std::vector<Level>(12, level)));
    records.back().set_sample_id(std::to_string(i));
  }
  int failed = 0;
  int one_by_one = 0;
  for (int i = 0; i < kResamplings; ++i) {
    const auto [candidate, baseline] = DrawTwo(records, 60, generator);
    const AuditReport report = AuditOrDie(policy, candidate, &baseline, static_cast<uint64_t>(i));
    failed += report.verdict == Verdict::kFail ? 1 : 0;
    one_by_one += *report.rules.front().value > kQuantile ? 1 : 0;
  }
  EXPECT_LE(failed, kMostByChance);
  EXPECT_GE(one_by_one, kResamplings / 2);
}

}  // namespace
}  // namespace sinkd
