// Measures that compare sample by sample, and their intervals, against numpy.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "audit_samples.h"
#include "server/audit/interval.h"
#include "server/audit/measures.h"

namespace sinkd {
namespace {

using nlohmann::json;
using testing::AuditOrDie;
using ::testing::HasSubstr;
using testing::MakeSample;
using testing::ReadPolicyOrDie;

AuditUnit ReadUnit(const json& side, uint64_t key) {
  AuditUnit unit{.key = key, .samples = 1, .tokens = side.at("tokens")};
  unit.layers = {{side.at("weakest")}, {}};
  const json& primary = side.at("primary");
  unit.primaries.push_back(
      {.position = primary[0], .window_start = primary[1], .window_end = primary[2]});
  for (const json& each : side.at("sinks")) {
    SecondarySink& sink = unit.sinks.emplace_back();
    sink.position = each.at("position");
    sink.level = {.l_start = each.at("level")[0], .lifetime = each.at("level")[1]};
    sink.mlp_norm = each.at("norm");
    if (!each.at("score").is_null()) sink.score = each.at("score").get<double>();
  }
  return unit;
}

const Measure& MeasureOf(const std::string& name) {
  const auto found = std::find_if(Measures().begin(), Measures().end(),
                                  [&](const Measure& measure) { return measure.name == name; });
  EXPECT_NE(found, Measures().end()) << name;
  return *found;
}

std::vector<const AuditUnit*> PointersTo(const std::vector<AuditUnit>& units) {
  std::vector<const AuditUnit*> pointers;
  for (const AuditUnit& unit : units) pointers.push_back(&unit);
  return pointers;
}

Quantity QuantityOf(const std::string& of) {
  if (of == "ratio") return Quantity::kRatio;
  return of == "difference" ? Quantity::kDifference : Quantity::kValue;
}

double ValueOf(const Measure& measure, Quantity of, UnitSpan candidate, UnitSpan baseline) {
  if (measure.of_two()) return measure.compare({}, candidate, baseline).value.value();
  return Compared(of, measure.read({}, candidate).value.value(),
                  measure.read({}, baseline).value.value());
}

TEST(PairsTest, ValuesAndIntervalsAreThoseOfNumpy) {
  const json oracle = json::parse(testing::ReadText(SINKD_ORACLE_DIR "/audit/pairs.json"));
  std::vector<AuditUnit> candidate, baseline;
  for (const json& pair : oracle.at("pairs")) {
    candidate.push_back(ReadUnit(pair.at("candidate"), candidate.size()));
    baseline.push_back(ReadUnit(pair.at("baseline"), baseline.size()));
  }
  const auto mine = PointersTo(candidate);
  const auto theirs = PointersTo(baseline);
  const std::vector<UnitPair> pairs = PairsOf(mine, theirs);
  std::vector<WeightedValue> values;
  for (const json& each : oracle.at("expected")) {
    const Measure& measure = MeasureOf(each.at("measure"));
    values.push_back(measure.of_two()
                         ? measure.weighted_pairs({}, pairs)
                         : WeightedComparison(QuantityOf(each.at("of")), measure.weighted({}, mine),
                                              measure.weighted({}, theirs)));
  }
  const auto intervals = PairedIntervals(values, pairs.size(), oracle.at("draws"),
                                         oracle.at("seed"), [] { return false; });
  ASSERT_TRUE(intervals.ok()) << intervals.status();
  for (size_t i = 0; i < values.size(); ++i) {
    const json& expected = oracle.at("expected")[i];
    SCOPED_TRACE(expected.dump());
    const auto near = [](double value) { return 1e-12 * std::max(1.0, std::abs(value)); };
    const double value = expected.at("value");
    EXPECT_NEAR(
        ValueOf(MeasureOf(expected.at("measure")), QuantityOf(expected.at("of")), mine, theirs),
        value, near(value));
    ASSERT_TRUE(intervals->at(i).has_value());
    const double lower = expected.at("interval")[0], upper = expected.at("interval")[1];
    EXPECT_NEAR(intervals->at(i)->lower, lower, near(lower));
    EXPECT_NEAR(intervals->at(i)->upper, upper, near(upper));
    EXPECT_LT(lower, upper);
  }
}

// `count` samples of these levels each, at positions from 1 on.
Evidence Samples(int count, const std::vector<Level>& levels) {
  Evidence evidence(0);
  for (int i = 0; i < count; ++i) evidence.Add(std::to_string(i), MakeSample(levels));
  return evidence;
}

RuleResult Only(const std::string& fields, const Evidence& candidate, const Evidence& baseline) {
  const Policy policy = ReadPolicyOrDie("name: a\nrules: [{" + fields + "}]");
  return AuditOrDie(policy, candidate, &baseline).rules.at(0);
}

TEST(PairsTest, AModelThatLostEverySinkFails) {
  const RuleResult lost =
      Only("measure: lost_secondary, at_most: 0.05", Samples(30, {}), Samples(30, {{10, 6}}));
  EXPECT_EQ(lost.verdict, Verdict::kFail);
  EXPECT_EQ(lost.value, 1);
  EXPECT_EQ(lost.reason, "1 is over 0.05; 30 of 30");
  ASSERT_TRUE(lost.interval.has_value());
  EXPECT_EQ(lost.interval->lower, 1);
  EXPECT_EQ(lost.interval->upper, 1);
}

TEST(PairsTest, WhatHasNoPairsIsNotEnoughData) {
  const std::string rule = "measure: lost_secondary, at_most: 0.05";
  Evidence others(0);
  for (int i = 0; i < 30; ++i) others.Add("x" + std::to_string(i), MakeSample({{10, 6}}));
  EXPECT_EQ(Only(rule, Samples(30, {{10, 6}}), others).reason,
            "0 samples in both sets; the rule asks for 20");
  EXPECT_THAT(Only(rule, Samples(30, {}), Samples(30, {})).reason,
              HasSubstr("0 usable secondary sinks in the baseline"));
  const RuleResult none =
      Only("measure: moved_secondary, at_most: 1", Samples(30, {}), Samples(30, {{10, 6}}));
  EXPECT_EQ(none.verdict, Verdict::kNotEnoughData);
  EXPECT_EQ(none.reason, "the sets share no such sinks");
}

TEST(PairsTest, ATestedRuleFailsOnlyIfItsWholeIntervalIsOutside) {
  // A quarter of the samples has a score of 0.8 instead of 0.5: the mean is 1.15 times as large,
  // and ten differing pairs have p = 2^-9. From 5 to 16 of 40 (scipy.stats.binom.ppf(0.025),
  // (0.975)) make an interval of 1.075 to 1.24.
  Evidence baseline(0), candidate(0);
  for (int i = 0; i < 40; ++i) {
    v1::SampleRecord record = MakeSample({});
    baseline.Add(std::to_string(i), record);
    if (i < 10) record.mutable_primary()->set_score(0.8);
    candidate.Add(std::to_string(i), record);
  }
  const std::string rule = "measure: primary_score, of: ratio, test: true, at_most: ";
  const RuleResult failed = Only(rule + "1.05", candidate, baseline);
  EXPECT_EQ(failed.verdict, Verdict::kFail);
  EXPECT_NEAR(failed.interval->lower, 1.075, 0.02);
  EXPECT_NEAR(failed.interval->upper, 1.24, 0.02);
  const RuleResult passed = Only(rule + "1.1", candidate, baseline);
  EXPECT_EQ(passed.verdict, Verdict::kPass);
  EXPECT_LT(*passed.adjusted_p, 0.05);
  EXPECT_THAT(passed.reason, HasSubstr("ratio 1.15 is over 1.1"));
  EXPECT_THAT(passed.reason, HasSubstr("its interval reaches into the limits"));
  EXPECT_EQ(Only("measure: primary_score, of: ratio, at_most: 1.1", candidate, baseline).verdict,
            Verdict::kFail)
      << "limits alone";
}

TEST(PairsTest, AnIntervalNeedsTheSameSamples) {
  const std::string rule = "measure: secondary_per_1000_tokens, of: ratio, at_most: 2";
  const Evidence some = Samples(30, {{10, 6}});
  EXPECT_TRUE(Only(rule, some, some).interval.has_value());
  EXPECT_FALSE(Only(rule, some, Samples(31, {{10, 6}})).interval.has_value());
  EXPECT_FALSE(Only("measure: secondary_per_1000_tokens, at_most: 99, test: true", some, some)
                   .interval.has_value())
      << "of the candidate alone";
}

}  // namespace
}  // namespace sinkd
