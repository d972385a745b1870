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

void Assign(const std::vector<float>& from, google::protobuf::RepeatedField<float>* to) {
  to->Assign(from.begin(), from.end());
}

void FillSink(int32_t position, v1::SinkKind kind, Level level, v1::Sink& sink) {
  sink.set_position(position);
  sink.set_kind(kind);
  sink.set_l_start(level.l_start);
  sink.set_lifetime(level.lifetime);
  for (int32_t i = 0; i < level.lifetime; ++i) sink.add_layers(level.l_start + i);
  sink.set_contiguous(true);
  sink.set_mlp_norm(10);
}

v1::SampleRecord RecordOf(int32_t layers) {
  v1::SampleRecord record;
  record.set_layers(layers);
  record.set_positions(10);
  record.set_window_start(1);
  record.set_window_end(layers - 1);
  FillSink(0, v1::SINK_KIND_PRIMARY, {1, layers - 2}, *record.mutable_primary());
  FillSink(9, v1::SINK_KIND_SECONDARY, {2, 2}, *record.add_sinks());
  return record;
}

v1::CompensationCurves Curves(const std::vector<float>& primary,
                              const std::vector<float>& secondary, const std::vector<float>& rest,
                              const std::vector<float>& norm) {
  v1::CompensationCurves curves;
  Assign(primary, curves.mutable_primary());
  Assign(secondary, curves.mutable_secondary());
  Assign(rest, curves.mutable_rest());
  Assign(norm, curves.mutable_primary_norm());
  return curves;
}

v1::GateMeans Gates(const std::vector<float>& all, const std::vector<float>& primary,
                    const std::vector<float>& secondary) {
  v1::GateMeans gates;
  Assign(all, gates.mutable_all());
  Assign(primary, gates.mutable_primary());
  Assign(secondary, gates.mutable_secondary());
  return gates;
}

TEST(Summary, OfNothingReportsNothing) {
  const v1::Summary report = Summary(Everything()).Report();
  EXPECT_EQ(report.samples(), 0);
  EXPECT_THAT(report.notes(), IsEmpty());
  EXPECT_FALSE(report.levels().has_entropy() || report.levels().has_normalized_entropy());
  EXPECT_EQ(report.levels().position_bins_size(), 10);
  EXPECT_TRUE(report.scores().by_kind(0).has_count());
  EXPECT_FALSE(report.scores().by_kind(0).has_mean());
  EXPECT_EQ(report.levels().secondary_per_1000_tokens(), 0);
  EXPECT_EQ(report.regression().score().fits(0).undefined(), "fewer than 3 points");
  EXPECT_EQ(report.compensation().pearson().undefined(), "fewer than 3 points");
  EXPECT_THAT(report.compensation().blocks(), IsEmpty());
}

v1::SampleRecord PartlyAttending(const std::vector<int32_t>& blocks, float primary) {
  v1::SampleRecord record = RecordOf(4);
  const size_t count = blocks.size();
  record.mutable_attention_blocks()->Assign(blocks.begin(), blocks.end());
  *record.mutable_compensation() =
      Curves(std::vector<float>(count, primary), std::vector<float>(count, 0.25F),
             std::vector<float>(count, 0.5F), {1, 2, 3, 4});
  *record.mutable_gates() = Gates({0.5F, 0.25F}, {0.125F, 0.125F}, {});
  return record;
}

TEST(Summary, LeavesBlocksWithoutAttentionEmptyAndNamesTheOthers) {
  Summary summary(Everything());
  ASSERT_TRUE(summary.Add(PartlyAttending({1, 3}, 0.5F)).ok());
  ASSERT_TRUE(summary.Add(PartlyAttending({1, 3}, 0.25F)).ok());
  EXPECT_EQ(summary.Add(PartlyAttending({1, 2}, 0.5F)).code(), absl::StatusCode::kInvalidArgument);
  const v1::Summary report = summary.Report();
  EXPECT_THAT(report.attention_blocks(), ElementsAre(1, 3));
  ASSERT_EQ(report.compensation().blocks_size(), 4);
  EXPECT_FALSE(report.compensation().blocks(0).has_primary());
  EXPECT_FALSE(report.compensation().blocks(0).has_rest());
  EXPECT_EQ(report.compensation().blocks(0).primary_norm(), 1);
  EXPECT_EQ(report.compensation().blocks(1).primary(), 0.375);
  EXPECT_EQ(report.compensation().blocks(3).secondary(), 0.25);
  EXPECT_TRUE(report.compensation().blocks(3).has_primary_interval());
  EXPECT_FALSE(report.compensation().blocks(2).has_primary_interval());
  // The windows [1, 3) are read by blocks 2 and 3, of which 3 has attention.
  EXPECT_THAT(report.compensation().weakest_block(), ElementsAre(testing::Pair(3, 2)));
  EXPECT_EQ(report.compensation().pearson().n(), 2);  // block 1 of either
  ASSERT_EQ(report.notes_size(), 1);
  EXPECT_THAT(report.notes(0), HasSubstr("softmax attention is in 2 of 4 blocks"));
  EXPECT_THAT(report.notes(0), HasSubstr("1, 3"));
}

TEST(Summary, GivesMeansOfGatesByBlockAndHead) {
  Summary summary(Everything()), other(Everything());
  ASSERT_TRUE(summary.Add(PartlyAttending({1}, 0.5F)).ok());
  v1::SampleRecord record = PartlyAttending({1}, 0.5F);
  *record.mutable_gates() = Gates({1, 0.25F}, {0.375F, 0.125F}, {0.5F, 0});
  ASSERT_TRUE(other.Add(record).ok());
  ASSERT_TRUE(summary.Merge(other).ok());
  const v1::Summary report = summary.Report();
  ASSERT_TRUE(report.has_gates());
  EXPECT_EQ(report.gates().samples(), 2);
  EXPECT_EQ(report.gates().samples_with_secondary(), 1);
  EXPECT_EQ(report.gates().heads(), 2);
  EXPECT_THAT(report.gates().all(), ElementsAre(0.75, 0.25));
  EXPECT_THAT(report.gates().primary(), ElementsAre(0.25, 0.125));
  EXPECT_THAT(report.gates().secondary(), ElementsAre(0.5, 0));
}

TEST(Summary, ReportsOnlyWhatWasAskedFor) {
  const v1::AnalysisSpec spec = SpecFrom("levels {}");
  Summary summary(spec);
  v1::SampleRecord record = RecordOf(8);
  Assign(std::vector<float>(8, 0.5F), record.mutable_learned_sink_mass());
  ASSERT_TRUE(summary.Add(record).ok());
  const v1::Summary report = summary.Report();
  EXPECT_TRUE(report.has_levels());
  EXPECT_FALSE(report.has_learned_sinks()) << "levels do not look at attention";
  EXPECT_FALSE(report.has_scores() || report.has_sink_rate() || report.has_regression() ||
               report.has_compensation());
}

TEST(Summary, DoesNotCountRecordsThatLackWhatAnAnalysisNeeds) {
  Summary summary(Everything());
  ASSERT_TRUE(summary.Add(RecordOf(8)).ok());
  const v1::Summary report = summary.Report();
  EXPECT_EQ(report.samples(), 1);
  EXPECT_EQ(report.levels().secondary(), 1);
  EXPECT_EQ(report.levels().position_bins(9), 1);
  EXPECT_EQ(report.compensation().samples(), 0);
  EXPECT_EQ(report.sink_rate().samples(), 0);
  EXPECT_EQ(report.scores().by_kind(1).undefined(), 1);
  EXPECT_EQ(report.regression().without_score(), 1);
}

TEST(Summary, MeansTheMassOfLearnedSinksOverTheRecordsThatHaveOne) {
  const v1::AnalysisSpec spec = SpecFrom("sink_rate {}");
  Summary summary(spec), other(spec);
  v1::SampleRecord record = RecordOf(4);
  ASSERT_TRUE(summary.Add(record).ok());
  EXPECT_FALSE(summary.Report().has_learned_sinks());
  Assign({0.25, 0, 1, 0.5}, record.mutable_learned_sink_mass());
  ASSERT_TRUE(summary.Add(record).ok());
  Assign({0.75, 0.5, 1, 0}, record.mutable_learned_sink_mass());
  ASSERT_TRUE(other.Add(record).ok());
  ASSERT_TRUE(summary.Merge(other).ok());
  ASSERT_TRUE(summary.Merge(Summary(spec)).ok());
  const v1::Summary report = summary.Report();
  ASSERT_TRUE(report.has_learned_sinks());
  EXPECT_EQ(report.learned_sinks().samples(), 2);
  EXPECT_THAT(report.learned_sinks().mass(), ElementsAre(0.5, 0.25, 1, 0.25));
}

TEST(Summary, RefusesRecordsOfAnotherDepth) {
  Summary summary(Everything());
  ASSERT_TRUE(summary.Add(RecordOf(8)).ok());
  const absl::Status status = summary.Add(RecordOf(12));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("12"));
  EXPECT_EQ(summary.Report().samples(), 1);
}

TEST(Summary, RefusesToMergeOtherParametersOrDepths) {
  Summary summary(Everything()), deeper(Everything()), other(SpecFrom(""));
  ASSERT_TRUE(summary.Add(RecordOf(8)).ok());
  ASSERT_TRUE(deeper.Add(RecordOf(12)).ok());
  EXPECT_EQ(GetErrorDetail(summary.Merge(other))->reason, "PARAMETERS_DIFFER");
  EXPECT_EQ(GetErrorDetail(summary.Merge(deeper))->reason, "LAYERS_DIFFER");
  EXPECT_TRUE(summary.Merge(Summary(Everything())).ok());
  EXPECT_EQ(summary.Report().samples(), 1);
}

TEST(Summary, CopiesStandAlone) {
  Summary summary(Everything());
  ASSERT_TRUE(summary.Add(RecordOf(8)).ok());
  Summary copy = summary;
  ASSERT_TRUE(copy.Merge(copy).ok());
  EXPECT_EQ(copy.Report().levels().secondary(), 2);
  EXPECT_EQ(summary.Report().levels().secondary(), 1);
}

TEST(Summary, NotesThatThePublishedRuleMeansNothingAtNineteenLayers) {
  const v1::AnalysisSpec spec = SpecFrom("detection { kind_rule: KIND_RULE_PUBLISHED }");
  Summary shallow(spec), deep(spec);
  ASSERT_TRUE(shallow.Add(RecordOf(19)).ok());
  ASSERT_TRUE(deep.Add(RecordOf(20)).ok());
  ASSERT_EQ(shallow.Report().notes_size(), 1);
  EXPECT_THAT(shallow.Report().notes(0), HasSubstr("19 layers"));
  EXPECT_THAT(deep.Report().notes(), IsEmpty());
}

struct Flaw {
  const char* name;
  void (*make)(v1::SampleRecord&);
};
void PrintTo(const Flaw& flaw, std::ostream* out) {
  *out << flaw.name;
}

class FlawedRecord : public testing::TestWithParam<Flaw> {};

TEST_P(FlawedRecord, IsRefusedAndChangesNothing) {
  Summary summary(Everything());
  v1::SampleRecord record = RecordOf(8);
  GetParam().make(record);
  EXPECT_EQ(GetErrorDetail(summary.Add(record))->reason, "INCONSISTENT_RECORD");
  EXPECT_EQ(summary.Report().samples(), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Summary, FlawedRecord,
    testing::Values(
        Flaw{"OneLayer", [](v1::SampleRecord& r) { r.set_layers(1); }},
        Flaw{"NoPositions", [](v1::SampleRecord& r) { r.set_positions(0); }},
        Flaw{"EmptyWindow", [](v1::SampleRecord& r) { r.set_window_end(r.window_start()); }},
        Flaw{"WindowPastTheLayers", [](v1::SampleRecord& r) { r.set_window_end(9); }},
        Flaw{"SinkPastTheSample",
             [](v1::SampleRecord& r) { r.mutable_sinks(0)->set_position(10); }},
        Flaw{"NegativePosition",
             [](v1::SampleRecord& r) { r.mutable_primary()->set_position(-1); }},
        Flaw{"LevelPastTheLayers", [](v1::SampleRecord& r) { r.mutable_sinks(0)->set_l_start(7); }},
        Flaw{"NoKind", [](v1::SampleRecord& r) { r.mutable_sinks(0)->clear_kind(); }},
        Flaw{"NanScore", [](v1::SampleRecord& r) { r.mutable_sinks(0)->set_score(std::nan("")); }},
        Flaw{"InfiniteNorm",
             [](v1::SampleRecord& r) { r.mutable_sinks(0)->set_mlp_norm(INFINITY); }},
        Flaw{"ShortCurve", [](v1::SampleRecord& r) { r.mutable_compensation(); }},
        Flaw{"NanCurve",
             [](v1::SampleRecord& r) {
               const std::vector<float> nan(8, std::nanf(""));
               *r.mutable_compensation() = Curves(nan, nan, nan, nan);
             }},
        Flaw{"ShortMassOfLearnedSinks",
             [](v1::SampleRecord& r) {
               Assign(std::vector<float>(7, 0.5F), r.mutable_learned_sink_mass());
             }},
        Flaw{"NanMassOfLearnedSinks",
             [](v1::SampleRecord& r) {
               Assign(std::vector<float>(8, std::nanf("")), r.mutable_learned_sink_mass());
             }}),
    [](const auto& flaw) { return flaw.param.name; });

TEST(Compensation, MakesFewerDrawsOfVeryManySamplesAndSaysSo) {
  const v1::AnalysisSpec spec = SpecFrom("compensation { bootstrap_samples: 10000 }");
  Summary summary(spec);
  v1::SampleRecord record = RecordOf(8);
  const std::vector<float> flat(8, 0.5f);
  for (int i = 0; i < 6000; ++i) {
    std::vector<float> curve(8, static_cast<float>(i) / 6000);
    *record.mutable_compensation() = Curves(curve, flat, flat, flat);
    ASSERT_TRUE(summary.Add(record).ok());
  }
  const v1::Summary report = summary.Report();
  ASSERT_EQ(report.notes_size(), 1);
  EXPECT_THAT(report.notes(0), HasSubstr("of 10000 bootstrap draws"));
  EXPECT_EQ(report.compensation().pearson().undefined(), "zero variance in y");
  EXPECT_FALSE(report.compensation().has_pearson_interval());
  EXPECT_TRUE(report.compensation().blocks(0).has_primary_interval());
}

TEST(Compensation, GivesNoIntervalsForOneSample) {
  const v1::AnalysisSpec spec = SpecFrom("compensation {}");
  Summary summary(spec);
  v1::SampleRecord record = RecordOf(8);
  const std::vector<float> rising = {0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F, 0.7F, 0.8F};
  const std::vector<float> falling = {0.8F, 0.7F, 0.5F, 0.6F, 0.4F, 0.3F, 0.2F, 0.1F};
  *record.mutable_compensation() = Curves(rising, falling, rising, rising);
  ASSERT_TRUE(summary.Add(record).ok());
  const v1::Summary report = summary.Report();
  EXPECT_EQ(report.compensation().pearson().undefined(), "");
  EXPECT_FALSE(report.compensation().has_pearson_interval());
  EXPECT_FALSE(report.compensation().blocks(0).has_primary_interval());
}

}  // namespace
}  // namespace sinkd
