#include "server/service/analyze/codec_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sinkd {
namespace {

TEST(CodecSummary, AnEmptySummaryHasCountsAndNoReports) {
  const sinks::v1::Summary summary = EncodeSummary({});
  EXPECT_TRUE(summary.has_samples());
  EXPECT_EQ(summary.samples(), 0);
  EXPECT_FALSE(summary.has_scores() || summary.has_levels() || summary.has_regression() ||
               summary.has_compensation() || summary.has_sink_rate() ||
               summary.has_learned_sinks());
}

TEST(CodecSummary, AnUndefinedFitHasItsReasonAndNoNumbers) {
  SummaryReport report;
  Fit undefined;
  undefined.form = RegressionForm::kLogLog;
  undefined.n = 2;
  undefined.left_out = 1;
  undefined.undefined = "fewer than 3 points";
  Fit perfect;
  perfect.r_squared = 1;
  report.regression.emplace().score.fits = {undefined, perfect};
  report.regression->score.pearson.undefined = "no variance";
  const sinks::v1::RegressionReport out = EncodeSummary(report).regression();
  const sinks::v1::Fit& fit = out.score().fits(0);
  EXPECT_EQ(fit.form(), sinks::v1::REGRESSION_FORM_LOG_LOG);
  EXPECT_EQ(fit.n(), 2);
  EXPECT_EQ(fit.left_out(), 1);
  EXPECT_EQ(fit.undefined(), "fewer than 3 points");
  EXPECT_FALSE(fit.has_intercept() || fit.has_slope() || fit.has_r_squared() ||
               fit.has_residual_deviation() || fit.has_aic());
  EXPECT_FALSE(out.score().pearson().has_value() || out.score().pearson().has_p());
  EXPECT_FALSE(out.score().fits(1).has_undefined());
  EXPECT_TRUE(out.score().fits(1).has_slope());
  EXPECT_FALSE(out.score().fits(1).has_aic());
}

TEST(CodecSummary, EmptyGroupsAndAbsentValuesStayAbsent) {
  SummaryReport report;
  report.levels.emplace();
  report.scores.emplace().by_kind.resize(3);
  report.compensation.emplace().blocks.resize(1);
  const sinks::v1::Summary summary = EncodeSummary(report);
  EXPECT_FALSE(summary.levels().has_entropy() || summary.levels().has_normalized_entropy());
  EXPECT_EQ(summary.levels().position_bins_size(), 10);
  EXPECT_TRUE(summary.scores().by_kind(0).has_count());
  EXPECT_FALSE(summary.scores().by_kind(0).has_mean());
  EXPECT_FALSE(summary.compensation().blocks(0).has_primary_interval());
  EXPECT_FALSE(summary.compensation().has_pearson_interval());
}

TEST(CodecSummary, KeepsTheMassOfLearnedSinks) {
  SummaryReport report;
  report.learned_sinks = {.samples = 3, .mass = {0.25, 0, 0.1}};
  const sinks::v1::LearnedSinkReport out = EncodeSummary(report).learned_sinks();
  EXPECT_EQ(out.samples(), 3);
  EXPECT_THAT(out.mass(), testing::ElementsAre(0.25, 0, 0.1));
}

TEST(CodecSummary, KeepsEveryNumberOfALevelReport) {
  SummaryReport report;
  LevelReport& levels = report.levels.emplace();
  levels.counts = {{{.l_start = 9, .lifetime = 20}, SinkKind::kSecondary, 4}};
  levels.secondary = 4;
  levels.entropy = 0.5;
  levels.top_tokens = {{.token_id = 33, .text = "!", .count = 4}};
  levels.position_bins[9] = 4;
  const sinks::v1::LevelReport out = EncodeSummary(report).levels();
  EXPECT_EQ(out.counts(0).l_start(), 9);
  EXPECT_EQ(out.counts(0).lifetime(), 20);
  EXPECT_EQ(out.counts(0).kind(), sinks::v1::SINK_KIND_SECONDARY);
  EXPECT_EQ(out.counts(0).count(), 4);
  EXPECT_EQ(out.secondary(), 4);
  EXPECT_EQ(out.entropy(), 0.5);
  EXPECT_EQ(out.top_tokens(0).text(), "!");
  EXPECT_EQ(out.position_bins(9), 4);
}

}  // namespace
}  // namespace sinkd
