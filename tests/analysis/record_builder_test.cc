// Records against an implementation of the definitions in numpy, on random traces.
#include "server/analysis/record_builder.h"

#include <iostream>
#include <iterator>
#include <span>

#include <gmock/gmock.h>

#include "server/analysis/gates.h"
#include "server/base/status.h"
#include "tests/analysis/oracle_file.h"

namespace sinkd {
namespace {

using testing::HasSubstr;

constexpr double kRounding = 1e-13;

void CompareScore(const std::optional<double>& score, const Json& expected) {
  ASSERT_EQ(score.has_value(), !expected.is_null());
  if (score) {
    EXPECT_LE(RelativeDifference(*score, expected), kRounding);
  }
}

void CompareSink(const v1::Sink& sink, const Json& e) {
  EXPECT_EQ(sink.position(), e["position"]);
  EXPECT_EQ(sink.token_id(), e["token_id"]);
  EXPECT_EQ(sink.token_text(), "token " + std::to_string(sink.token_id()));
  EXPECT_EQ(NameOf(sink.kind()), e["kind"].get<std::string>());
  EXPECT_THAT(sink.layers(), testing::ElementsAreArray(e["layers"].get<std::vector<int32_t>>()));
  EXPECT_EQ(LevelOf(sink), (Level{e["l_start"], e["lifetime"]}));
  EXPECT_EQ(sink.contiguous(), e["contiguous"]);
  EXPECT_LE(RelativeDifference(sink.margin(), e["margin"]), kRounding);
  EXPECT_EQ(sink.mlp_norm(), e["mlp_norm"]);
  EXPECT_EQ(sink.state_norm(), e["state_norm"]);
  CompareScore(ScoreOf(sink), e["score"]);
  EXPECT_EQ(sink.has_score_maximum(), sink.has_score());
  if (sink.has_score_maximum()) CompareScore(sink.score_maximum(), e["score_maximum"]);
  const auto curve = e["score_curve"].get<std::vector<double>>();
  ASSERT_EQ(sink.score_curve_size(), std::ssize(curve));
  for (size_t l = 0; l < curve.size(); ++l) {
    EXPECT_NEAR(sink.score_curve(static_cast<int>(l)), curve[l], 1e-7);
  }
}

void CompareSinkRate(const v1::SinkRateCounts& counts, const Json& e) {
  ASSERT_EQ(counts.left_out(), e["left_out"].get<bool>());
  if (counts.left_out()) return;
  EXPECT_THAT(counts.hits(), testing::ElementsAreArray(e["hits"].get<std::vector<int64_t>>()));
  EXPECT_EQ(counts.cells(), e["cells"]);
  EXPECT_EQ(counts.undefined(), e["undefined"]);
}

void CompareCurves(const v1::CompensationCurves& curves, const Json& e) {
  const auto compare = [&](const google::protobuf::RepeatedField<float>& values, const char* name) {
    const std::span<const float> ours = SpanOf(values);
    const auto expected = e[name].get<std::vector<float>>();
    ASSERT_EQ(ours.size(), expected.size());
    for (size_t l = 0; l < ours.size(); ++l) {
      EXPECT_LE(std::fabs(ours[l] - expected[l]), 2e-7f * std::fabs(expected[l])) << name << l;
    }
  };
  compare(curves.primary(), "primary");
  compare(curves.secondary(), "secondary");
  compare(curves.rest(), "rest");
  compare(curves.primary_norm(), "primary_norm");
}

void CompareLearnedSinks(std::span<const float> mass, const Json& e) {
  const auto expected = e.get<std::vector<float>>();
  ASSERT_EQ(mass.size(), expected.size());
  for (size_t l = 0; l < mass.size(); ++l) EXPECT_NEAR(mass[l], expected[l], 2e-7) << l;
}

void CompareHeads(const v1::HeadMeans& heads, const Json& e) {
  const auto ours = HeadMeansOf<float>(heads);
  const auto expected =
      e.is_null() ? decltype(ours)() : e.get<std::map<std::string, std::vector<float>>>();
  ASSERT_EQ(ours.size(), expected.size());
  for (const auto& [name, values] : expected) {
    ASSERT_TRUE(ours.contains(name) && ours.at(name).size() == values.size()) << name;
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(ours.at(name)[i], values[i], 1e-6 * std::max(1.0F, values[i])) << name << i;
    }
  }
}

void CompareRecord(const v1::SampleRecord& record, const Json& e) {
  CompareSink(record.primary(), e["primary"]);
  EXPECT_EQ(record.window_start(), e["window"][0]);
  EXPECT_EQ(record.window_end(), e["window"][1]);
  EXPECT_EQ(record.undecided(), e["undecided"].get<bool>());
  ASSERT_EQ(record.sinks_size(), std::ssize(e["sinks"]));
  for (int i = 0; i < record.sinks_size(); ++i) {
    CompareSink(record.sinks(i), e["sinks"][static_cast<size_t>(i)]);
  }
  ASSERT_TRUE(record.has_sink_rate() && record.has_compensation());
  CompareSinkRate(record.sink_rate(), e["sink_rate"]);
  CompareCurves(record.compensation(), e["compensation"]);
  CompareLearnedSinks(SpanOf(record.learned_sink_mass()), e["learned_sink_mass"]);
  CompareHeads(record.heads(), e["heads"]);
}

TEST(RecordBuilder, EqualsTheDefinitionsOnRandomTraces) {
  const Json oracle = ReadOracle("traces.json");
  size_t samples = 0, sinks = 0;
  for (const Json& group : oracle["groups"]) {
    const v1::AnalysisSpec spec = SpecOf(group["spec"]);
    for (const Json& sample : group["samples"]) {
      SCOPED_TRACE(group["name"].get<std::string>() + ", sample " + std::to_string(samples++));
      const auto record = RecordOf(spec, sample);
      ASSERT_TRUE(record.ok()) << record.status();
      CompareRecord(*record, sample["record"]);
      sinks += static_cast<size_t>(record->sinks_size());
    }
  }
  std::cout << samples << " traces, " << sinks << " sinks\n";
  EXPECT_GE(samples, 150u);
  EXPECT_GE(sinks, 200u);
}

TEST(RecordBuilder, GivesAlphaOfEveryPosition) {
  const Json oracle = ReadOracle("traces.json");
  for (const Json& group : oracle["groups"]) {
    const v1::AnalysisSpec spec = SpecOf(group["spec"]);
    for (const Json& sample : group["samples"]) {
      const Trace trace = TraceOf(sample["trace"]);
      std::vector<float> row(Trace::At(trace.positions));
      size_t index = 0;
      for (int64_t cell = 0; cell < trace.layers * trace.heads; ++cell) {
        AlphaRow(spec.scores(), trace, cell / trace.heads, cell % trace.heads, row);
        for (const float alpha : row) {
          const Json& expected = sample["alpha"][index++];
          ASSERT_EQ(std::isnan(alpha), expected.is_null());
          if (!expected.is_null()) {
            EXPECT_NEAR(alpha, expected.get<double>(), 1e-7);
          }
        }
      }
    }
  }
}

// A small sample in which everything is fine: position 0 rises at layer 1.
class FineTrace : public testing::Test {
 protected:
  FineTrace() {
    trace_ = {.layers = 3, .positions = 4, .heads = 1, .candidates = 3};
    trace_.state_norm.assign(12, 1);
    trace_.state_norm[4] = trace_.state_norm[8] = 100;
    trace_.candidate_cosine.assign(36, 0);
    trace_.mlp_norm.assign(12, 1);
    trace_.attention_sum.assign(12, 0.5);
    trace_.attention_self.assign(12, 0.5);
  }

  absl::StatusOr<v1::SampleRecord> Build() {
    return BuildRecord(spec_, {.token_ids = ids_}, trace_, nullptr);
  }

  v1::AnalysisSpec spec_ = SpecFrom("scores {}");
  Trace trace_;
  std::vector<int32_t> ids_ = {7, 8, 9, 10};
};

TEST_F(FineTrace, NeedsNoTokenText) {
  const auto record = Build();
  ASSERT_TRUE(record.ok()) << record.status();
  EXPECT_EQ(record->primary().token_id(), 7);
  EXPECT_EQ(record->primary().token_text(), "");
  EXPECT_TRUE(record->sinks().empty());
}

TEST_F(FineTrace, RefusesAModelOfOneLayer) {
  trace_ = {.layers = 1, .positions = 1, .heads = 1, .candidates = 1};
  const auto status = Build().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("one layer"));
}

TEST_F(FineTrace, RefusesAnEmptySample) {
  trace_ = {.layers = 3};
  EXPECT_EQ(GetErrorDetail(Build().status())->reason, "EMPTY_SAMPLE");
}

TEST_F(FineTrace, NamesTheLayerAndPositionOfANonFiniteNumber) {
  trace_.mlp_norm[2 * 4 + 3] = std::numeric_limits<float>::infinity();
  const auto status = Build().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("MLP norm at layer 2, position 3"));
  EXPECT_EQ(GetErrorDetail(status)->reason, "NON_FINITE_ACTIVATION");
}

TEST_F(FineTrace, AdvisesFloat32ToWhatIsNotInItAlready) {
  trace_.mlp_norm[0] = std::numeric_limits<float>::infinity();
  EXPECT_THAT(GetErrorDetail(Build().status())->fix, ::testing::Not(HasSubstr("in float32")));
  const auto half = BuildRecord(spec_, {.token_ids = ids_, .bfloat16 = true}, trace_, nullptr);
  EXPECT_THAT(GetErrorDetail(half.status())->fix, HasSubstr("load the model in float32"));
}

TEST_F(FineTrace, FindsANanAmongTheCosinesOfACandidate) {
  trace_.candidate_cosine[(1 * 3 + 2) * 4 + 1] = std::nanf("");
  EXPECT_THAT(std::string(Build().status().message()), HasSubstr("layer 1, position 1"));
}

TEST_F(FineTrace, IsRefusedWhenItLacksWhatTheSpecNeeds) {
  trace_.attention_sum.clear();
  EXPECT_EQ(Build().status().code(), absl::StatusCode::kInternal);
  spec_.clear_scores();
  EXPECT_TRUE(Build().ok());
  spec_ = SpecFrom("sink_rate { first_tokens: 2 }");
  EXPECT_EQ(Build().status().code(), absl::StatusCode::kInternal);
}

TEST_F(FineTrace, IsRefusedWithAnotherNumberOfTokens) {
  ids_.pop_back();
  EXPECT_EQ(Build().status().code(), absl::StatusCode::kInternal);
}

TEST_F(FineTrace, LeavesScoresEmptyWhenNobodyAskedForThem) {
  spec_.clear_scores();
  EXPECT_FALSE(Build()->primary().has_score());
}

TEST_F(FineTrace, GivesTheMassOfLearnedSinksPerBlockAsTheMeanOverHeads) {
  EXPECT_THAT(Build()->learned_sink_mass(), testing::IsEmpty());
  trace_.heads = 2;
  trace_.attention_sum.resize(24, 0.5);
  trace_.attention_self.resize(24, 0.5);
  trace_.learned_sink_mass = {0.25, 0.75, 0, 0.125, 1, 1};
  EXPECT_THAT(Build()->learned_sink_mass(), testing::ElementsAre(0.5, 0.0625, 1));
  spec_.clear_scores();
  EXPECT_THAT(Build()->learned_sink_mass(), testing::IsEmpty());
  spec_ = SpecFrom("compensation {}");
  EXPECT_THAT(Build()->learned_sink_mass(), testing::ElementsAre(0.5, 0.0625, 1));
}

// A trace whose blocks without softmax attention hold what must not be read.
TEST_F(FineTrace, TakesAttentionOverTheBlocksThatHaveIt) {
  spec_ = SpecFrom("scores { curves: true } compensation {} sink_rate {}");
  const v1::SampleRecord all = *Build();
  EXPECT_THAT(all.attention_blocks(), testing::IsEmpty());
  trace_.attention_blocks = {1};
  const v1::SampleRecord one = *Build();
  EXPECT_THAT(one.attention_blocks(), testing::ElementsAre(1));
  EXPECT_EQ(one.sinks_size(), all.sinks_size());
  ASSERT_EQ(all.primary().score_curve_size(), 3);
  EXPECT_THAT(one.primary().score_curve(), testing::ElementsAre(all.primary().score_curve(1)));
  EXPECT_EQ(one.sink_rate().cells(), trace_.heads);
  EXPECT_THAT(one.compensation().rest(), testing::ElementsAre(all.compensation().rest(1)));
  EXPECT_THAT(one.compensation().primary_norm(),
              testing::ElementsAreArray(all.compensation().primary_norm()));
  trace_.attention_blocks = {0};  // reads no layer
  EXPECT_FALSE(Build()->primary().has_score());
  EXPECT_FALSE(Build()->primary().has_score_maximum());
}

TEST_F(FineTrace, GivesTheMeansOfGatesByBlockAndHead) {
  EXPECT_FALSE(Build()->has_gates());
  trace_.attention_blocks = {2};
  trace_.gates.assign(12, 0);
  const std::vector<float> last = {0.5, 0.25, 0, 0.125};
  std::copy(last.begin(), last.end(), trace_.gates.begin() + 8);
  v1::SampleRecord record = *Build();
  ASSERT_TRUE(record.has_gates());
  EXPECT_THAT(record.gates().all(), testing::ElementsAre(0.21875));
  EXPECT_THAT(record.gates().primary(), testing::ElementsAre(0.5));
  EXPECT_THAT(record.gates().secondary(), testing::IsEmpty());
  record.clear_gates();
  for (const v1::SinkKind kind :
       {v1::SINK_KIND_SECONDARY, v1::SINK_KIND_NOISE, v1::SINK_KIND_SECONDARY}) {
    v1::Sink& sink = *record.add_sinks();
    sink.set_position(record.sinks_size());
    sink.set_kind(kind);
  }
  FillGateMeans(trace_, record);
  EXPECT_THAT(record.gates().secondary(), testing::ElementsAre(0.1875));
}

TEST_F(FineTrace, IsRefusedWithAMassOfLearnedSinksOfAnotherSizeOrThatIsNotFinite) {
  trace_.learned_sink_mass = {0.25, 0.5};
  EXPECT_EQ(Build().status().code(), absl::StatusCode::kInternal);
  trace_.learned_sink_mass = {0.25, 0.5, std::nanf("")};
  EXPECT_THAT(std::string(Build().status().message()),
              HasSubstr("mass of learned sinks at layer 2"));
}

TEST_F(FineTrace, CountsCloseCallsInBfloat16AsUndecided) {
  trace_.candidate_cosine[(1 * 3 + 0) * 4 + 3] = 0.905f;
  const auto build = [&](bool bfloat16) {
    return BuildRecord(spec_, {.token_ids = ids_, .bfloat16 = bfloat16}, trace_, nullptr);
  };
  EXPECT_TRUE(build(true)->undecided());
  EXPECT_FALSE(build(false)->undecided());
}

}  // namespace
}  // namespace sinkd
