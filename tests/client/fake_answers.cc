#include "tests/client/fake_answers.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

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

v1::PlanModelResponse MakePlan(const v1::PlanModelRequest& request, int64_t free_bytes) {
  constexpr int64_t kMiB = 1 << 20;
  const bool streamed = request.residency() == v1::RESIDENCY_STREAMED;
  v1::PlanModelResponse response;
  v1::ModelPlan& plan = *response.mutable_plan();
  plan.set_name(request.name());
  plan.set_architecture("llama");
  plan.set_blocks(3);
  plan.set_compute_type(v1::COMPUTE_TYPE_FLOAT32);
  plan.set_residency(streamed ? v1::RESIDENCY_STREAMED : v1::RESIDENCY_RESIDENT);
  plan.set_has_weights(true);
  plan.set_parameters(536870912);
  plan.set_tensor_count(8);
  plan.set_stored_bytes(1024 * kMiB);
  plan.set_weight_bytes(2048 * kMiB);
  plan.set_largest_block_bytes(128 * kMiB);
  plan.set_positions(request.has_positions() ? request.positions() : 2048);
  plan.add_warnings("1 tensor is not used: \x1b[31mextra");
  v1::DeviceShare& share = *plan.add_devices();
  share.set_device(request.has_device() ? request.device() : "cpu");
  share.set_first_block(0);
  share.set_blocks(3);
  share.set_weight_bytes((streamed ? 256 : 2048) * kMiB);
  share.set_activation_bytes((streamed ? 344 : 1024) * kMiB);
  share.set_free_bytes(free_bytes);
  share.set_budget_bytes(free_bytes);
  share.set_held_bytes(300 * kMiB);
  share.set_pinned_bytes(100 * kMiB);
  share.set_evicted_bytes(0);
  share.set_fits(share.weight_bytes() <= free_bytes);
  share.set_sample_fits(share.weight_bytes() + share.activation_bytes() <= free_bytes);
  plan.set_fits(share.fits());
  if (!plan.fits()) plan.set_refusal("the model takes too much of \x1b[31mcpu; unload another");

  std::vector<v1::PlannedTensor> tensors;
  const auto add = [&](const std::string& name, std::initializer_list<int64_t> shape,
                       v1::TensorUse use) {
    v1::PlannedTensor& tensor = tensors.emplace_back();
    tensor.set_name(name);
    tensor.set_stored_type("BF16");
    tensor.mutable_shape()->Add(shape.begin(), shape.end());
    tensor.set_stored_bytes(2048);
    tensor.set_use(use);
  };
  add("lm_head.weight", {32, 32}, v1::TENSOR_USE_HEAD);
  add("model.embed_tokens.weight", {32, 32}, v1::TENSOR_USE_LOADED);
  for (const char* block : {"0", "1", "2"}) {
    const std::string prefix = std::string("model.layers.") + block;
    add(prefix + ".mlp.experts.7.w1.weight", {64, 16}, v1::TENSOR_USE_LOADED);
    add(prefix + ".norm.weight", {1024}, v1::TENSOR_USE_LOADED);
  }
  size_t begin = 0;
  while (begin < tensors.size() && request.has_page_token() &&
         tensors[begin++].name() != request.page_token()) {
  }
  const size_t page = std::min<size_t>(4, static_cast<size_t>(request.page_size()));
  const size_t end = std::min(begin + page, tensors.size());
  for (size_t i = begin; i < end; ++i) *response.add_tensors() = tensors[i];
  if (end < tensors.size()) response.set_next_page_token(tensors[end - 1].name());
  return response;
}

v1::ListFamiliesResponse MakeFamilies() {
  v1::ListFamiliesResponse response;
  v1::Family& family = *response.add_families();
  family.set_model_type("llama");
  family.set_models("Llama 2 to 3.2, CodeLlama, SmolLM2, R1-Distill-Llama");
  family.set_particular("llama3 and other rotary scalings");
  family.set_finding("secondary sinks in the middle layers of every model looked at");
  family.set_reference("transformers 4.57.1");
  const auto add = [&](const char* site, double float32, double ratio) {
    v1::SiteDifference& difference = *family.add_differences();
    difference.set_site(site);
    difference.set_float32_difference(float32);
    if (ratio > 0) difference.set_bfloat16_ratio(ratio);
  };
  add("resid_post", 3.2e-6, 0.75);
  add("alpha", 1.5e-7, 0);
  v1::KnownModel& model = *family.add_known_models();
  model.set_name("meta-llama/Llama-3.2-1B");
  model.set_parameters(1235814400);
  model.set_weight_bytes(int64_t{2471628800});
  v1::Family& two = *response.add_families();
  two.set_model_type("two");
  two.set_models("Two, a \"quoted\" name");
  return response;
}

}  // namespace sinkd::testing
