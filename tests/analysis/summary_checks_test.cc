// What a summary refuses, what it notes, and what it does without data.
#include <cmath>
#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/analysis/compensation_bootstrap.h"
#include "server/analysis/summary.h"
#include "server/base/status.h"
#include "tests/analysis/spec_text.h"

namespace sinkd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

v1::AnalysisSpec Everything() {
  return SpecFrom("scores {} sink_rate {} levels {} regression {} compensation {}");
}

Sink SinkAt(int32_t position, SinkKind kind, Level level) {
  Sink sink{.position = position, .kind = kind, .level = level, .mlp_norm = 10};
  for (int32_t i = 0; i < level.lifetime; ++i) sink.layers.push_back(level.l_start + i);
  return sink;
}

SampleRecord RecordOf(int64_t layers) {
  SampleRecord record{.layers = layers, .positions = 10, .window_start = 1};
  record.window_end = static_cast<int32_t>(layers) - 1;
  record.primary = SinkAt(0, SinkKind::kPrimary, {1, record.window_end - 1});
  record.sinks = {SinkAt(9, SinkKind::kSecondary, {2, 2})};
  return record;
}

TEST(Summary, OfNothingReportsNothing) {
  const SummaryReport report = Summary(Everything()).Report();
  EXPECT_EQ(report.samples, 0);
  EXPECT_THAT(report.notes, IsEmpty());
  EXPECT_FALSE(report.levels->entropy);
  EXPECT_EQ(report.levels->secondary_per_1000_tokens, 0);
  EXPECT_EQ(report.regression->score.fits[0].undefined, "fewer than 3 points");
  EXPECT_EQ(report.compensation->pearson.undefined, "fewer than 3 points");
  EXPECT_THAT(report.compensation->blocks, IsEmpty());
}

SampleRecord PartlyAttending(std::vector<int32_t> blocks, float primary) {
  SampleRecord record = RecordOf(4);
  const size_t count = blocks.size();
  record.attention_blocks = std::move(blocks);
  record.compensation = {.primary = std::vector<float>(count, primary),
                         .secondary = std::vector<float>(count, 0.25F),
                         .rest = std::vector<float>(count, 0.5F),
                         .primary_norm = {1, 2, 3, 4}};
  record.gates = {.all = {0.5F, 0.25F}, .primary = {0.125F, 0.125F}, .secondary = {}};
  return record;
}

TEST(Summary, LeavesBlocksWithoutAttentionEmptyAndNamesTheOthers) {
  Summary summary(Everything());
  ASSERT_TRUE(summary.Add(PartlyAttending({1, 3}, 0.5F)).ok());
  ASSERT_TRUE(summary.Add(PartlyAttending({1, 3}, 0.25F)).ok());
  EXPECT_EQ(summary.Add(PartlyAttending({1, 2}, 0.5F)).code(), absl::StatusCode::kInvalidArgument);
  const SummaryReport report = summary.Report();
  EXPECT_THAT(report.attention_blocks, ElementsAre(1, 3));
  ASSERT_EQ(report.compensation->blocks.size(), 4u);
  EXPECT_FALSE(report.compensation->blocks[0].primary);
  EXPECT_FALSE(report.compensation->blocks[0].rest);
  EXPECT_EQ(report.compensation->blocks[0].primary_norm, 1);
  EXPECT_EQ(report.compensation->blocks[1].primary, 0.375);
  EXPECT_EQ(report.compensation->blocks[3].secondary, 0.25);
  EXPECT_TRUE(report.compensation->blocks[3].primary_interval);
  EXPECT_FALSE(report.compensation->blocks[2].primary_interval);
  // The windows [1, 3) are read by blocks 2 and 3, of which 3 has attention.
  EXPECT_EQ(report.compensation->weakest_block, (std::map<int32_t, int64_t>{{3, 2}}));
  EXPECT_EQ(report.compensation->pearson.n, 2);  // block 1 of either
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_THAT(report.notes[0], HasSubstr("softmax attention is in 2 of 4 blocks"));
  EXPECT_THAT(report.notes[0], HasSubstr("1, 3"));
}

TEST(Summary, GivesMeansOfGatesByBlockAndHead) {
  Summary summary(Everything()), other(Everything());
  ASSERT_TRUE(summary.Add(PartlyAttending({1}, 0.5F)).ok());
  SampleRecord record = PartlyAttending({1}, 0.5F);
  record.gates = {.all = {1, 0.25F}, .primary = {0.375F, 0.125F}, .secondary = {0.5F, 0}};
  ASSERT_TRUE(other.Add(record).ok());
  ASSERT_TRUE(summary.Merge(other).ok());
  const SummaryReport report = summary.Report();
  ASSERT_TRUE(report.gates);
  EXPECT_EQ(report.gates->samples, 2);
  EXPECT_EQ(report.gates->samples_with_secondary, 1);
  EXPECT_EQ(report.gates->heads, 2);
  EXPECT_THAT(report.gates->all, ElementsAre(0.75, 0.25));
  EXPECT_THAT(report.gates->primary, ElementsAre(0.25, 0.125));
  EXPECT_THAT(report.gates->secondary, ElementsAre(0.5, 0));
}

TEST(Summary, ReportsOnlyWhatWasAskedFor) {
  const v1::AnalysisSpec spec = SpecFrom("levels {}");
  Summary summary(spec);
  SampleRecord record = RecordOf(8);
  record.learned_sink_mass.assign(8, 0.5f);
  ASSERT_TRUE(summary.Add(record).ok());
  const SummaryReport report = summary.Report();
  EXPECT_TRUE(report.levels);
  EXPECT_FALSE(report.learned_sinks) << "levels do not look at attention";
  EXPECT_FALSE(report.scores || report.sink_rate || report.regression || report.compensation);
}

TEST(Summary, DoesNotCountRecordsThatLackWhatAnAnalysisNeeds) {
  Summary summary(Everything());
  ASSERT_TRUE(summary.Add(RecordOf(8)).ok());
  const SummaryReport report = summary.Report();
  EXPECT_EQ(report.samples, 1);
  EXPECT_EQ(report.levels->secondary, 1);
  EXPECT_EQ(report.levels->position_bins[9], 1);
  EXPECT_EQ(report.compensation->samples, 0);
  EXPECT_EQ(report.sink_rate->samples, 0);
  EXPECT_EQ(report.scores->by_kind[1].undefined, 1);
  EXPECT_EQ(report.regression->without_score, 1);
}

TEST(Summary, MeansTheMassOfLearnedSinksOverTheRecordsThatHaveOne) {
  const v1::AnalysisSpec spec = SpecFrom("sink_rate {}");
  Summary summary(spec), other(spec);
  SampleRecord record = RecordOf(4);
  ASSERT_TRUE(summary.Add(record).ok());
  EXPECT_FALSE(summary.Report().learned_sinks);
  record.learned_sink_mass = {0.25, 0, 1, 0.5};
  ASSERT_TRUE(summary.Add(record).ok());
  record.learned_sink_mass = {0.75, 0.5, 1, 0};
  ASSERT_TRUE(other.Add(record).ok());
  ASSERT_TRUE(summary.Merge(other).ok());
  ASSERT_TRUE(summary.Merge(Summary(spec)).ok());
  const SummaryReport report = summary.Report();
  ASSERT_TRUE(report.learned_sinks);
  EXPECT_EQ(report.learned_sinks->samples, 2);
  EXPECT_THAT(report.learned_sinks->mass, ElementsAre(0.5, 0.25, 1, 0.25));
}

TEST(Summary, RefusesRecordsOfAnotherDepth) {
  Summary summary(Everything());
  ASSERT_TRUE(summary.Add(RecordOf(8)).ok());
  const absl::Status status = summary.Add(RecordOf(12));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("12"));
  EXPECT_EQ(summary.Report().samples, 1);
}

TEST(Summary, RefusesToMergeOtherParametersOrDepths) {
  Summary summary(Everything()), deeper(Everything()), other(SpecFrom(""));
  ASSERT_TRUE(summary.Add(RecordOf(8)).ok());
  ASSERT_TRUE(deeper.Add(RecordOf(12)).ok());
  EXPECT_EQ(GetErrorDetail(summary.Merge(other))->reason, "PARAMETERS_DIFFER");
  EXPECT_EQ(GetErrorDetail(summary.Merge(deeper))->reason, "LAYERS_DIFFER");
  EXPECT_TRUE(summary.Merge(Summary(Everything())).ok());
  EXPECT_EQ(summary.Report().samples, 1);
}

TEST(Summary, CopiesStandAlone) {
  Summary summary(Everything());
  ASSERT_TRUE(summary.Add(RecordOf(8)).ok());
  Summary copy = summary;
  ASSERT_TRUE(copy.Merge(copy).ok());
  EXPECT_EQ(copy.Report().levels->secondary, 2);
  EXPECT_EQ(summary.Report().levels->secondary, 1);
}

TEST(Summary, NotesThatThePublishedRuleMeansNothingAtNineteenLayers) {
  const v1::AnalysisSpec spec = SpecFrom("detection { kind_rule: KIND_RULE_PUBLISHED }");
  Summary shallow(spec), deep(spec);
  ASSERT_TRUE(shallow.Add(RecordOf(19)).ok());
  ASSERT_TRUE(deep.Add(RecordOf(20)).ok());
  ASSERT_EQ(shallow.Report().notes.size(), 1u);
  EXPECT_THAT(shallow.Report().notes[0], HasSubstr("19 layers"));
  EXPECT_THAT(deep.Report().notes, IsEmpty());
}

struct Flaw {
  const char* name;
  void (*make)(SampleRecord&);
};
void PrintTo(const Flaw& flaw, std::ostream* out) {
  *out << flaw.name;
}

class FlawedRecord : public testing::TestWithParam<Flaw> {};

TEST_P(FlawedRecord, IsRefusedAndChangesNothing) {
  Summary summary(Everything());
  SampleRecord record = RecordOf(8);
  GetParam().make(record);
  EXPECT_EQ(GetErrorDetail(summary.Add(record))->reason, "INCONSISTENT_RECORD");
  EXPECT_EQ(summary.Report().samples, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Summary, FlawedRecord,
    testing::Values(Flaw{"OneLayer", [](SampleRecord& r) { r.layers = 1; }},
                    Flaw{"NoPositions", [](SampleRecord& r) { r.positions = 0; }},
                    Flaw{"EmptyWindow", [](SampleRecord& r) { r.window_end = r.window_start; }},
                    Flaw{"WindowPastTheLayers", [](SampleRecord& r) { r.window_end = 9; }},
                    Flaw{"SinkPastTheSample", [](SampleRecord& r) { r.sinks[0].position = 10; }},
                    Flaw{"NegativePosition", [](SampleRecord& r) { r.primary.position = -1; }},
                    Flaw{"LevelPastTheLayers",
                         [](SampleRecord& r) {
                           r.sinks[0].level = {7, 2};
                         }},
                    Flaw{"NanScore", [](SampleRecord& r) { r.sinks[0].score = std::nan(""); }},
                    Flaw{"InfiniteNorm", [](SampleRecord& r) { r.sinks[0].mlp_norm = INFINITY; }},
                    Flaw{"ShortCurve", [](SampleRecord& r) { r.compensation.emplace(); }},
                    Flaw{"NanCurve",
                         [](SampleRecord& r) {
                           const std::vector<float> nan(8, std::nanf(""));
                           r.compensation = {nan, nan, nan, nan};
                         }},
                    Flaw{"ShortMassOfLearnedSinks",
                         [](SampleRecord& r) { r.learned_sink_mass.assign(7, 0.5f); }},
                    Flaw{"NanMassOfLearnedSinks",
                         [](SampleRecord& r) { r.learned_sink_mass.assign(8, std::nanf("")); }}),
    [](const auto& flaw) { return flaw.param.name; });

TEST(Compensation, MakesFewerDrawsOfVeryManySamplesAndSaysSo) {
  const v1::AnalysisSpec spec = SpecFrom("compensation { bootstrap_samples: 10000 }");
  Summary summary(spec);
  SampleRecord record = RecordOf(8);
  const std::vector<float> flat(8, 0.5f);
  for (int i = 0; i < 6000; ++i) {
    std::vector<float> curve(8, static_cast<float>(i) / 6000);
    record.compensation = {curve, flat, flat, flat};
    ASSERT_TRUE(summary.Add(record).ok());
  }
  const SummaryReport report = summary.Report();
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_THAT(report.notes[0], HasSubstr("of 10000 bootstrap draws"));
  EXPECT_EQ(report.compensation->pearson.undefined, "zero variance in y");
  EXPECT_FALSE(report.compensation->pearson_interval);
  EXPECT_TRUE(report.compensation->blocks[0].primary_interval);
}

TEST(Compensation, GivesNoIntervalsForOneSample) {
  const v1::AnalysisSpec spec = SpecFrom("compensation {}");
  Summary summary(spec);
  SampleRecord record = RecordOf(8);
  record.compensation = {{0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f, 0.7f, 0.8f},
                         {0.8f, 0.7f, 0.5f, 0.6f, 0.4f, 0.3f, 0.2f, 0.1f},
                         {},
                         {}};
  record.compensation->rest = record.compensation->primary_norm = record.compensation->primary;
  ASSERT_TRUE(summary.Add(record).ok());
  const SummaryReport report = summary.Report();
  EXPECT_EQ(report.compensation->pearson.undefined, "");
  EXPECT_FALSE(report.compensation->pearson_interval);
  EXPECT_FALSE(report.compensation->blocks[0].primary_interval);
}

}  // namespace
}  // namespace sinkd
