// From checkpoint to record, without a server: what is detected in real forward passes equals what
// an independent numpy implementation finds in transformers' states, and what was planted comes
// back exactly.
#include <fstream>
#include <numeric>
#include <set>

#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "server/analysis/record_builder.h"
#include "server/analysis/summary.h"
#include "server/engine/model.h"
#include "tests/analysis/spec_text.h"
#include "tests/engine/oracle_files.h"
#include "tests/engine/parity_cases.h"

namespace sinkd::testing {
namespace {

using Json = nlohmann::json;

constexpr const char* kKinds[] = {"unspecified", "primary", "secondary", "noise"};

std::vector<int32_t> LayersOf(const v1::Sink& sink) {
  return {sink.layers().begin(), sink.layers().end()};
}

std::unique_ptr<Model> LoadOrDie(const std::string& checkpoint,
                                 ComputeType compute_type = ComputeType::kFloat32) {
  auto model = Model::Load(OracleFolder() / checkpoint, {.compute_type = compute_type});
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *std::move(model) : nullptr;
}

v1::AnalysisSpec SpecWithScores() {
  return SpecFrom("scores {} levels { include_primary_position: true }");
}

v1::SampleRecord AnalyzeOrDie(const Model& model, const v1::AnalysisSpec& spec, const TokenIds& ids,
                              bool chat_rendered) {
  const auto traces = model.Run({&ids, 1}, RequiredTrace(spec));
  EXPECT_TRUE(traces.ok()) << traces.status();
  const auto record = BuildRecord(
      spec,
      {.token_ids = ids, .prompt_tokens = int64_t(ids.size()), .chat_rendered = chat_rendered},
      traces->front(), {});
  EXPECT_TRUE(record.ok()) << record.status();
  return record.value_or(v1::SampleRecord());
}

void ExpectFound(const v1::SampleRecord& got, const Json& want) {
  EXPECT_EQ(got.primary().position(), want["p0"].get<int32_t>());
  EXPECT_EQ(got.window_start(), want["window"][0].get<int32_t>());
  EXPECT_EQ(got.window_end(), want["window"][1].get<int32_t>());
  ASSERT_EQ(size_t(got.sinks_size()), want["sinks"].size());
  for (int i = 0; i < got.sinks_size(); ++i) {
    const v1::Sink& sink = got.sinks(i);
    const Json& expected = want["sinks"][size_t(i)];
    EXPECT_EQ(sink.position(), expected["position"].get<int32_t>());
    EXPECT_EQ(LayersOf(sink), expected["layers"].get<std::vector<int32_t>>()) << sink.position();
    EXPECT_EQ(kKinds[static_cast<int>(sink.kind())], expected["kind"].get<std::string>());
    EXPECT_NEAR(sink.margin(), expected["margin"].get<double>(), 1e-5);
    if (!expected["score"].is_null()) {
      ASSERT_TRUE(sink.has_score());
      EXPECT_NEAR(sink.score(), expected["score"].get<double>(), 1e-5);
      EXPECT_NEAR(sink.score_maximum(), expected["score_maximum"].get<double>(), 1e-5);
    }
  }
}

class Detection : public ::testing::TestWithParam<ParityCase> {};

TEST_P(Detection, FindsThePositionsAndLayersOfTheOracle) {
  const std::string& checkpoint = GetParam().checkpoint;
  const auto model = LoadOrDie(checkpoint);
  ASSERT_NE(model, nullptr);
  for (const int64_t length : GetParam().lengths) {
    SCOPED_TRACE(length);
    const std::string file = absl::StrCat("detection_T", length, ".json");
    const Json want =
        Json::parse(std::ifstream(OracleFolder() / (checkpoint + ".expected") / file));
    const v1::SampleRecord got =
        AnalyzeOrDie(*model, SpecWithScores(), ReadExpected(checkpoint, "f32", length).ids,
                     want["chat_rendered"].get<bool>());
    ExpectFound(got, want);
  }
}

std::string TestName(const ::testing::TestParamInfo<ParityCase>& test) {
  return NameOf(test.param);
}

INSTANTIATE_TEST_SUITE_P(EveryCase, Detection, ::testing::ValuesIn(ParityCases()), TestName);
INSTANTIATE_TEST_SUITE_P(SmolLM2, Detection, ::testing::Values(SmolLM2()), TestName);

TEST(LearnedSinks, TakeInARecordWhatTheyTakeInTransformers) {
  const std::string checkpoint = "families/gpt_oss_sinks";
  const auto model = LoadOrDie(checkpoint);
  ASSERT_NE(model, nullptr);
  const int64_t length = 200;
  const ExpectedSample expected = ReadExpected(checkpoint, "f32", length);
  const v1::AnalysisSpec spec = SpecWithScores();
  const v1::SampleRecord got = AnalyzeOrDie(*model, spec, expected.ids, false);
  Summary summary(spec);
  ASSERT_TRUE(summary.Add(got).ok());
  ASSERT_EQ(got.learned_sink_mass_size(), got.layers());
  const size_t per_block = expected.learned_sink_mass.size() / size_t(got.layers());
  for (int l = 0; l < got.layers(); ++l) {
    const auto first = expected.learned_sink_mass.begin() + l * int64_t(per_block);
    const double want = std::accumulate(first, first + int64_t(per_block), 0.0) / double(per_block);
    EXPECT_NEAR(got.learned_sink_mass(l), want, 1e-5) << "block " << l;
    EXPECT_NEAR(summary.Report().learned_sinks().mass(l), want, 1e-5) << "block " << l;
  }
}

class Planted : public ::testing::TestWithParam<std::string> {};

TEST_P(Planted, LevelsComeBackExactly) {
  const std::string checkpoint = "planted/" + GetParam();
  const auto model = LoadOrDie(checkpoint);
  ASSERT_NE(model, nullptr);
  std::ifstream records(OracleFolder() / checkpoint / "records.jsonl");
  v1::AnalysisSpec spec = SpecWithScores();
  spec.mutable_levels()->set_include_primary_position(false);
  Summary summary(spec);
  std::map<Level, int64_t> planted;
  int64_t samples = 0;
  for (std::string line; std::getline(records, line); ++samples) {
    const Json want = Json::parse(line);
    const auto ids = want["token_ids"].get<TokenIds>();
    const v1::SampleRecord got = AnalyzeOrDie(*model, spec, ids, want["chat_rendered"].get<bool>());
    EXPECT_EQ(got.primary().position(), want["primary"]["position"].get<int32_t>());
    EXPECT_EQ(got.window_start(), want["primary"]["window"][0].get<int32_t>());
    EXPECT_EQ(got.window_end(), want["primary"]["window"][1].get<int32_t>());
    ASSERT_EQ(size_t(got.sinks_size()), want["sinks"].size()) << want["sample_id"];
    for (int i = 0; i < got.sinks_size(); ++i) {
      const Json& expected = want["sinks"][size_t(i)];
      EXPECT_EQ(got.sinks(i).position(), expected["position"].get<int32_t>());
      EXPECT_EQ(LayersOf(got.sinks(i)), expected["layers"].get<std::vector<int32_t>>());
      EXPECT_EQ(kKinds[static_cast<int>(got.sinks(i).kind())], expected["kind"].get<std::string>());
      planted[{expected["layers"][0].get<int32_t>(), int32_t(expected["layers"].size())}] += 1;
    }
    ASSERT_TRUE(summary.Add(got).ok());
  }
  EXPECT_GE(samples, 10);
  std::map<Level, int64_t> histogram;
  const v1::Summary report = summary.Report();
  for (const v1::LevelCount& count : report.levels().counts()) {
    histogram[{count.l_start(), count.lifetime()}] += count.count();
  }
  EXPECT_EQ(histogram, planted);
}

// Text that begins with a BOS gets another from the tokenizer: two equal tokens, whose states
// are equal up to rounding.
TEST(DoubledBos, LeavesThePrimarySinkAtTheFirstInEveryFormat) {
  std::ifstream records(OracleFolder() / "planted/planted-table/records.jsonl");
  std::string line;
  ASSERT_TRUE(std::getline(records, line));
  TokenIds ids = Json::parse(line)["token_ids"].get<TokenIds>();
  for (const ComputeType compute_type : {ComputeType::kFloat32, ComputeType::kBfloat16}) {
    const auto model = LoadOrDie("planted/planted-table", compute_type);
    ASSERT_NE(model, nullptr);
    TokenIds doubled = ids;
    doubled.insert(doubled.begin(), ids.front());
    const v1::SampleRecord got = AnalyzeOrDie(*model, SpecWithScores(), doubled, false);
    EXPECT_EQ(got.primary().position(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, Planted,
                         ::testing::Values("planted-table", "planted-context", "planted-weakening"),
                         [](const auto& test) { return test.param.substr(8); });

}  // namespace
}  // namespace sinkd::testing
