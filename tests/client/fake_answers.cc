#include "tests/client/fake_answers.h"

#include <algorithm>
#include <cmath>

namespace sinkd::testing {
namespace {

namespace v1 = ::sinks::v1;

v1::Sink MakeSink(int position, v1::SinkKind kind, int l_start, int lifetime,
                  const std::string& text) {
  v1::Sink sink;
  sink.set_position(position);
  sink.set_token_id(100 + position);
  sink.set_token_text(text);
  sink.set_kind(kind);
  sink.set_l_start(l_start);
  sink.set_lifetime(lifetime);
  for (int layer = l_start; layer < l_start + lifetime; ++layer) sink.add_layers(layer);
  sink.set_contiguous(true);
  sink.set_margin(0.0625);
  sink.set_mlp_norm(1234.5);
  sink.set_state_norm(2500.25);
  sink.set_score(0.375);
  sink.set_score_maximum(0.75);
  for (int block = 0; block < kFakeBlocks; ++block) {
    sink.add_score_curve(0.05f * static_cast<float>(block));
  }
  return sink;
}

void FillFit(v1::RegressionForm form, double a, double b, v1::Fit& fit) {
  fit.set_form(form);
  fit.set_n(31);
  const auto fill = [](double value, v1::Coefficient& coefficient) {
    coefficient.set_value(value);
    coefficient.set_standard_error(0.0125);
    coefficient.set_t(value / 0.0125);
    coefficient.set_p(3.5e-9);
    coefficient.set_lower(value - 0.025);
    coefficient.set_upper(value + 0.025);
  };
  fill(a, *fit.mutable_intercept());
  fill(b, *fit.mutable_slope());
  fit.set_r_squared(0.8125);
  fit.set_residual_deviation(0.03125);
  fit.set_aic(-42.5);
}

v1::RegressionResult MakeResult(double a, double b) {
  v1::RegressionResult result;
  FillFit(v1::REGRESSION_FORM_LINEAR_LOG, a, b, *result.add_fits());
  FillFit(v1::REGRESSION_FORM_LOG_LINEAR, a, b, *result.add_fits());
  v1::Fit& undefined = *result.add_fits();
  undefined.set_form(v1::REGRESSION_FORM_LOG_LOG);
  undefined.set_n(2);
  undefined.set_left_out(29);
  undefined.set_undefined("n < 3");
  FillFit(v1::REGRESSION_FORM_LINEAR, a, b, *result.add_fits());
  result.mutable_pearson()->set_n(31);
  result.mutable_pearson()->set_value(0.9);
  result.mutable_pearson()->set_p(1e-12);
  result.mutable_spearman()->set_n(31);
  result.mutable_spearman()->set_undefined("zero variance in y");
  return result;
}

void FillRegression(bool points, v1::RegressionReport& report) {
  *report.mutable_score() = MakeResult(-0.5, 0.125);
  *report.mutable_lifetime() = MakeResult(-20, 4);
  report.set_without_score(1);
  for (int i = 0; points && i < 31; ++i) {
    const double x = 100.0 + 60.0 * i;
    auto& score = *report.add_score_points();
    score.set_x(x);
    score.set_y(-0.5 + 0.125 * std::log(x) + 0.02 * ((i * 7) % 5 - 2));
    auto& lifetime = *report.add_lifetime_points();
    lifetime.set_x(x);
    lifetime.set_y(std::round(-20 + 4 * std::log(x) + (i * 7) % 5 - 2));
  }
}

void FillLevels(int64_t samples, v1::LevelReport& report) {
  const auto add = [&](int l_start, int lifetime, v1::SinkKind kind, int64_t count) {
    auto& level = *report.add_counts();
    level.set_l_start(l_start);
    level.set_lifetime(lifetime);
    level.set_kind(kind);
    level.set_count(count);
  };
  add(1, 10, v1::SINK_KIND_PRIMARY, samples);
  add(4, 5, v1::SINK_KIND_SECONDARY, 2 * samples);
  add(6, 4, v1::SINK_KIND_SECONDARY, samples);
  add(8, 1, v1::SINK_KIND_NOISE, 1);
  report.set_primary(samples);
  report.set_secondary(3 * samples);
  report.set_noise(1);
  report.set_positions(10 * samples);
  report.set_secondary_per_1000_tokens(300);
  report.set_samples_with_secondary(samples);
  report.set_share_of_samples_with_secondary(1);
  report.set_distinct_levels(2);
  report.set_entropy(0.6365);
  report.set_normalized_entropy(0.9183);
  auto& token = *report.add_top_tokens();
  token.set_token_id(198);
  token.set_text("\n");
  token.set_count(3 * samples);
  for (int bin = 0; bin < 10; ++bin) report.add_position_bins(bin * samples);
}

void FillCompensation(v1::CompensationReport& report) {
  for (int i = 0; i < kFakeBlocks; ++i) {
    auto& block = *report.add_blocks();
    block.set_primary(0.8 - 0.05 * std::min(i, kFakeBlocks - i));
    block.set_secondary(0.02 * std::min(i, kFakeBlocks - i));
    block.set_rest(0.2);
    block.set_primary_norm(1000.0 * i);
    block.mutable_primary_interval()->set_lower(block.primary() - 0.01);
    block.mutable_primary_interval()->set_upper(block.primary() + 0.01);
  }
  (*report.mutable_weakest_block())[6] = 3;
  (*report.mutable_start_minus_weakest())[-2] = 4;
  (*report.mutable_start_minus_weakest())[1] = 2;
  report.mutable_pearson()->set_n(30);
  report.mutable_pearson()->set_value(-0.95);
  report.mutable_pearson()->set_p(0.001);
  report.mutable_spearman()->set_undefined("n < 3");
}

void FillRate(v1::SinkRateReport& report) {
  report.set_samples(3);
  report.set_left_out(1);
  for (int i = 0; i < 4; ++i) {
    report.add_cells(i == 3 ? 0 : 144);
    report.add_hits(i == 0 ? 108 : 0);
    report.add_rates(i == 0 ? 0.75 : 0.0);
  }
}

void FillScores(v1::ScoreReport& report) {
  const auto fill = [](v1::SinkKind kind, v1::ScoreStatistics& statistics) {
    statistics.set_kind(kind);
    statistics.set_count(3);
    statistics.set_undefined(1);
    statistics.set_mean(0.375);
    statistics.set_deviation(0.125);
    statistics.set_minimum(0.25);
    statistics.set_maximum(0.5);
  };
  fill(v1::SINK_KIND_PRIMARY, *report.mutable_primary_position());
  fill(v1::SINK_KIND_SECONDARY, *report.add_by_kind());
}

}  // namespace

v1::SampleRecord MakeRecord(int64_t index, const v1::Sample& sample) {
  v1::SampleRecord record;
  record.set_sample_index(index);
  if (sample.has_sample_id()) record.set_sample_id(sample.sample_id());
  record.set_layers(kFakeBlocks);
  record.set_positions(10);
  record.set_prompt_tokens(10);
  record.set_response_tokens(0);
  record.set_chat_rendered(false);
  record.set_window_start(1);
  record.set_window_end(11);
  *record.mutable_primary() = MakeSink(0, v1::SINK_KIND_PRIMARY, 1, 10, "<s>");
  *record.add_sinks() = MakeSink(4, v1::SINK_KIND_SECONDARY, 4, 5, "a,\"b\"\n");
  *record.add_sinks() = MakeSink(7, v1::SINK_KIND_NOISE, 8, 1, "\x1b[31m漢字");
  record.set_undecided(false);
  return record;
}

v1::Summary MakeSummary(const v1::AnalysisSpec& spec, int64_t samples, int64_t positions) {
  v1::Summary summary;
  summary.set_samples(samples);
  summary.set_positions(positions);
  summary.set_undecided_samples(0);
  summary.add_notes("a note of the server");
  if (spec.has_scores()) FillScores(*summary.mutable_scores());
  if (spec.has_sink_rate()) FillRate(*summary.mutable_sink_rate());
  if (spec.has_levels()) FillLevels(samples, *summary.mutable_levels());
  if (spec.has_regression()) {
    FillRegression(spec.regression().points(), *summary.mutable_regression());
  }
  if (spec.has_compensation()) FillCompensation(*summary.mutable_compensation());
  return summary;
}

v1::AnalyzeResponse MakeStarted(const v1::AnalysisSpec& spec) {
  v1::AnalyzeResponse response;
  auto& started = *response.mutable_started();
  *started.mutable_spec() = spec;
  auto& detection = *started.mutable_spec()->mutable_detection();
  if (!detection.has_cosine_threshold()) detection.set_cosine_threshold(0.9);
  started.set_blocks(kFakeBlocks);
  started.set_heads(12);
  started.set_compute_type("float32");
  started.set_device("cpu");
  return response;
}

}  // namespace sinkd::testing
