#include "server/service/analyze/stream_spec.h"

#include <functional>

#include <gtest/gtest.h>

#include "server/base/status.h"

namespace sinkd {
namespace {

v1::AnalysisSpec Minimal() {
  v1::AnalysisSpec spec;
  spec.set_model("models/a");
  return spec;
}

TEST(StreamSpec, FillsInTheDefaultsThatTheProtoPromises) {
  v1::AnalysisSpec spec = Minimal();
  spec.mutable_scores();
  spec.mutable_sink_rate();
  spec.mutable_levels();
  spec.mutable_regression();
  spec.mutable_compensation();
  spec.mutable_portrait();
  const v1::AnalysisSpec echo = *CompleteSpec(spec, "2025-01-01");
  EXPECT_EQ(echo.model(), "models/a");
  EXPECT_EQ(echo.template_date(), "2025-01-01");
  EXPECT_TRUE(echo.has_fail_fast() && echo.has_summary_only());
  EXPECT_EQ(echo.detection().cosine_threshold(), 0.9);
  EXPECT_TRUE(echo.detection().has_min_norm_ratio());
  EXPECT_EQ(echo.detection().min_norm_ratio(), 0);
  EXPECT_EQ(echo.detection().kind_rule(), v1::KIND_RULE_WINDOW);
  EXPECT_EQ(echo.detection().last_state(), v1::LAST_STATE_NORMED);
  EXPECT_TRUE(echo.scores().has_exclude_self());
  EXPECT_EQ(echo.scores().divisor(), v1::QUERY_DIVISOR_FROM_POSITION);
  EXPECT_EQ(echo.sink_rate().epsilon(), 0.3);
  EXPECT_EQ(echo.sink_rate().positions(), 64);
  EXPECT_TRUE(echo.sink_rate().has_first_tokens());
  EXPECT_EQ(echo.levels().min_share(), 0.02);
  EXPECT_EQ(echo.levels().top_tokens(), 10);
  EXPECT_EQ(echo.compensation().bootstrap_samples(), 1000);
  EXPECT_TRUE(echo.compensation().has_seed());
  EXPECT_EQ(echo.portrait().samples(), 1);
}

TEST(StreamSpec, LeavesOutWhatWasNotAskedFor) {
  const v1::AnalysisSpec echo = *CompleteSpec(Minimal(), "2025-01-01");
  EXPECT_TRUE(echo.has_detection());
  EXPECT_FALSE(echo.has_scores() || echo.has_sink_rate() || echo.has_levels() ||
               echo.has_regression() || echo.has_compensation() || echo.has_portrait());
}

TEST(StreamSpec, ResolvesPresetsAndLetsFieldsOverrideThem) {
  v1::AnalysisSpec spec = Minimal();
  spec.mutable_detection()->set_preset(v1::DETECTION_PRESET_PAPER_TEXT);
  spec.mutable_sink_rate()->set_preset(v1::SINK_RATE_PRESET_GU2024);
  v1::AnalysisSpec decoded = *CompleteSpec(spec, "2025-01-01");
  EXPECT_EQ(decoded.detection().cosine_threshold(), 0.95);
  EXPECT_EQ(decoded.detection().min_norm_ratio(), 3);
  EXPECT_EQ(decoded.sink_rate().first_tokens(), 64);
  spec.mutable_detection()->set_min_norm_ratio(0);
  spec.mutable_sink_rate()->set_first_tokens(32);
  decoded = *CompleteSpec(spec, "2025-01-01");
  EXPECT_EQ(decoded.detection().cosine_threshold(), 0.95);
  EXPECT_EQ(decoded.detection().min_norm_ratio(), 0);
  EXPECT_EQ(decoded.sink_rate().first_tokens(), 32);
}

TEST(StreamSpec, AnEchoDecodesToTheSameSpec) {
  v1::AnalysisSpec spec = Minimal();
  spec.set_run_id("run-1");
  spec.set_fail_fast(true);
  spec.set_template_date("2024-02-29");
  spec.mutable_detection()->set_kind_rule(v1::KIND_RULE_PUBLISHED);
  spec.mutable_detection()->set_last_state(v1::LAST_STATE_RAW);
  spec.mutable_scores()->set_divisor(v1::QUERY_DIVISOR_ALL);
  spec.mutable_compensation()->set_seed(-3);
  const v1::AnalysisSpec echo = *CompleteSpec(spec, "2025-01-01");
  const v1::AnalysisSpec again = *CompleteSpec(echo, "2030-01-01");
  EXPECT_EQ(echo.SerializeAsString(), again.SerializeAsString());
  EXPECT_EQ(echo.run_id(), "run-1");
  EXPECT_EQ(echo.template_date(), "2024-02-29");
  EXPECT_EQ(echo.compensation().seed(), -3);
}

struct BadSpec {
  const char* name;
  const char* field;
  std::function<void(v1::AnalysisSpec&)> spoil;
};

class StreamSpecRefuses : public ::testing::TestWithParam<BadSpec> {};

TEST_P(StreamSpecRefuses, AndNamesTheField) {
  v1::AnalysisSpec spec = Minimal();
  GetParam().spoil(spec);
  const absl::StatusOr<v1::AnalysisSpec> decoded = CompleteSpec(spec, "2025-01-01");
  ASSERT_EQ(decoded.status().code(), absl::StatusCode::kInvalidArgument) << decoded.status();
  EXPECT_EQ(GetErrorDetail(decoded.status())->subject, GetParam().field);
  EXPECT_FALSE(GetErrorDetail(decoded.status())->fix.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Specs, StreamSpecRefuses,
    ::testing::Values(
        BadSpec{"NoModel", "spec.model", [](auto& spec) { spec.clear_model(); }},
        BadSpec{"PathAsModel", "spec.model", [](auto& spec) { spec.set_model("models/../etc"); }},
        BadSpec{"RunId", "spec.run_id", [](auto& spec) { spec.set_run_id("Run 1"); }},
        BadSpec{"NoSuchDay", "spec.template_date",
                [](auto& spec) { spec.set_template_date("2025-02-29"); }},
        BadSpec{"DateForm", "spec.template_date",
                [](auto& spec) { spec.set_template_date("2025-+1-01"); }},
        BadSpec{"EmptyDate", "spec.template_date", [](auto& spec) { spec.set_template_date(""); }},
        BadSpec{"Preset", "spec.detection.preset",
                [](auto& spec) {
                  spec.mutable_detection()->set_preset(static_cast<v1::DetectionPreset>(9));
                }},
        BadSpec{"KindRule", "spec.detection.kind_rule",
                [](auto& spec) {
                  spec.mutable_detection()->set_kind_rule(static_cast<v1::KindRule>(-1));
                }},
        BadSpec{"LastState", "spec.detection.last_state",
                [](auto& spec) {
                  spec.mutable_detection()->set_last_state(static_cast<v1::LastState>(3));
                }},
        BadSpec{"Divisor", "spec.scores.divisor",
                [](auto& spec) {
                  spec.mutable_scores()->set_divisor(static_cast<v1::QueryDivisor>(3));
                }},
        BadSpec{"RatePreset", "spec.sink_rate.preset",
                [](auto& spec) {
                  spec.mutable_sink_rate()->set_preset(static_cast<v1::SinkRatePreset>(2));
                }},
        BadSpec{"Cosine", "spec.detection.cosine_threshold",
                [](auto& spec) { spec.mutable_detection()->set_cosine_threshold(1); }},
        BadSpec{"Positions", "spec.sink_rate.positions",
                [](auto& spec) { spec.mutable_sink_rate()->set_positions(0); }},
        BadSpec{"Portraits", "spec.portrait.samples",
                [](auto& spec) { spec.mutable_portrait()->set_samples(101); }},
        BadSpec{"Bootstrap", "spec.compensation.bootstrap_samples",
                [](auto& spec) { spec.mutable_compensation()->set_bootstrap_samples(10001); }}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace sinkd
