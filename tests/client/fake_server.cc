#include "tests/client/fake_server.h"

#include <algorithm>
#include <cmath>

#include <google/protobuf/util/time_util.h>
#include <google/rpc/error_details.pb.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

namespace sinkd::testing {
namespace {

namespace v1 = ::sinks::v1;

constexpr int kBlocks = 12;

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
  for (int block = 0; block < kBlocks; ++block) {
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
  for (int i = 0; i < kBlocks; ++i) {
    auto& block = *report.add_blocks();
    block.set_primary(0.8 - 0.05 * std::min(i, kBlocks - i));
    block.set_secondary(0.02 * std::min(i, kBlocks - i));
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
  record.set_layers(kBlocks);
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
  started.set_blocks(kBlocks);
  started.set_heads(12);
  started.set_compute_type("float32");
  started.set_device("cpu");
  return response;
}

grpc::Status MakeError(grpc::StatusCode code, const std::string& message, const std::string& reason,
                       const std::string& field, int retry_milliseconds) {
  google::rpc::Status status;
  status.set_code(static_cast<int>(code));
  status.set_message(message);
  google::rpc::ErrorInfo info;
  info.set_reason(reason);
  info.set_domain("sinkd");
  status.add_details()->PackFrom(info);
  if (!field.empty()) {
    google::rpc::BadRequest request;
    auto& violation = *request.add_field_violations();
    violation.set_field(field);
    violation.set_description("out of its limits");
    status.add_details()->PackFrom(request);
  }
  if (retry_milliseconds > 0) {
    google::rpc::RetryInfo retry;
    *retry.mutable_retry_delay() =
        google::protobuf::util::TimeUtil::MillisecondsToDuration(retry_milliseconds);
    status.add_details()->PackFrom(retry);
  }
  return {code, message, status.SerializeAsString()};
}

class FakeServer::Models : public v1::ModelService::Service {
 public:
  explicit Models(FakeServer& server) : server_(server) {}

  grpc::Status ListModels(grpc::ServerContext* context, const v1::ListModelsRequest* request,
                          v1::ListModelsResponse* response) override {
    if (grpc::Status status = server_.NextUnary(*context); !status.ok()) return status;
    const size_t begin = request->page_token().empty() ? 0 : std::stoul(request->page_token());
    const size_t end = std::min(begin + 2, server_.models.size());
    for (size_t i = begin; i < end; ++i) *response->add_models() = server_.models[i];
    if (end < server_.models.size()) response->set_next_page_token(std::to_string(end));
    return grpc::Status::OK;
  }

  grpc::Status GetModel(grpc::ServerContext* context, const v1::GetModelRequest* request,
                        v1::GetModelResponse* response) override {
    if (grpc::Status status = server_.NextUnary(*context); !status.ok()) return status;
    return Find(request->name(), *response->mutable_model());
  }

  grpc::Status LoadModel(grpc::ServerContext*, const v1::LoadModelRequest* request,
                         grpc::ServerWriter<v1::LoadModelResponse>* writer) override {
    v1::LoadModelResponse response;
    response.set_bytes_total(4 << 20);
    for (int i = 0; i < 4; ++i) {
      response.set_bytes_done(i << 20);
      writer->Write(response);
    }
    if (!server_.load_status.ok()) return server_.load_status;
    v1::Model& model = *response.mutable_model();
    if (grpc::Status status = Find(request->name(), model); !status.ok()) return status;
    model.set_state(v1::MODEL_STATE_READY);
    model.set_device(request->has_device() ? request->device() : "cpu");
    model.set_compute_type(request->has_compute_type() ? request->compute_type()
                                                       : v1::COMPUTE_TYPE_FLOAT32);
    model.set_weight_bytes(4 << 20);
    writer->Write(response);
    return grpc::Status::OK;
  }

  grpc::Status UnloadModel(grpc::ServerContext* context, const v1::UnloadModelRequest* request,
                           v1::UnloadModelResponse* response) override {
    if (grpc::Status status = server_.NextUnary(*context); !status.ok()) return status;
    return Find(request->name(), *response->mutable_model());
  }

 private:
  grpc::Status Find(const std::string& name, v1::Model& model) const {
    for (const v1::Model& candidate : server_.models) {
      if (candidate.name() == name) return model = candidate, grpc::Status::OK;
    }
    return MakeError(grpc::StatusCode::NOT_FOUND, "no model " + name, "MODEL_NOT_FOUND");
  }

  FakeServer& server_;
};

class FakeServer::Analysis : public v1::AnalysisService::Service {
 public:
  explicit Analysis(FakeServer& server) : server_(server) {}

  grpc::Status Analyze(grpc::ServerContext* context, AnalyzeStream* stream) override {
    const grpc::Status status =
        server_.analyze ? server_.analyze(*context, *stream) : server_.Analyze(*context, *stream);
    if (context->IsCancelled()) ++server_.cancelled_streams;
    return status;
  }

 private:
  FakeServer& server_;
};

FakeServer::FakeServer()
    : models_service_(std::make_unique<Models>(*this)),
      analysis_service_(std::make_unique<Analysis>(*this)) {
  for (const char* name : {"models/alpha", "models/beta", "models/gamma"}) {
    v1::Model& model = models.emplace_back();
    model.set_name(name);
    model.set_state(v1::MODEL_STATE_AVAILABLE);
    model.set_architecture("llama");
    model.set_blocks(kBlocks);
    model.set_hidden_size(64);
    model.set_heads(12);
    model.set_kv_heads(4);
    model.set_vocabulary_size(32000);
    model.set_max_positions(4096);
    model.set_has_chat_template(true);
  }
  models.back().set_state(v1::MODEL_STATE_FAILED);
  models.back().set_failure("model.safetensors: truncated, \"lm_head\" ends at 12");
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(models_service_.get());
  builder.RegisterService(analysis_service_.get());
  server_ = builder.BuildAndStart();
  address_ = "127.0.0.1:" + std::to_string(port);
}

FakeServer::~FakeServer() {
  // Streams that still run are cut off.
  server_->Shutdown(std::chrono::system_clock::now());
}

std::shared_ptr<grpc::Channel> FakeServer::MakeChannel() const {
  return grpc::CreateChannel(address_, grpc::InsecureChannelCredentials());
}

grpc::Status FakeServer::NextUnary(grpc::ServerContext& context) {
  const size_t call = static_cast<size_t>(unary_calls++);
  const auto& metadata = context.client_metadata();
  if (const auto id = metadata.find("x-request-id"); id != metadata.end()) {
    const std::lock_guard lock(mutex_);
    request_id_ = std::string(id->second.data(), id->second.size());
  }
  return call < unary_failures.size() ? unary_failures[call] : grpc::Status::OK;
}

grpc::Status FakeServer::Analyze(grpc::ServerContext& context, AnalyzeStream& stream) {
  v1::AnalyzeRequest request;
  if (!stream.Read(&request) || !request.has_spec()) {
    return {grpc::StatusCode::INVALID_ARGUMENT, "the first message is no spec"};
  }
  const v1::AnalysisSpec spec = request.spec();
  {
    const std::lock_guard lock(mutex_);
    spec_ = spec;
    samples_.clear();
    const auto id = context.client_metadata().find("x-request-id");
    request_id_ = id == context.client_metadata().end()
                      ? ""
                      : std::string(id->second.data(), id->second.size());
  }
  stream.Write(MakeStarted(spec));
  int64_t index = 0;
  int64_t answered = 0;
  v1::AnalyzeResponse response;
  while (stream.Read(&request)) {
    ++samples_received;
    {
      const std::lock_guard lock(mutex_);
      samples_.push_back(request.sample());
    }
    if (const auto error = sample_errors.find(index); error != sample_errors.end()) {
      if (spec.fail_fast()) return error->second;
      auto& sample_error = *response.mutable_sample_error();
      sample_error.set_sample_index(index);
      sample_error.set_sample_id(request.sample().sample_id());
      sample_error.mutable_status()->ParseFromString(error->second.error_details());
      stream.Write(response);
    } else {
      ++answered;
      if (spec.scores().all_positions()) {
        auto& alpha = *response.mutable_alpha();
        alpha.set_sample_index(index);
        alpha.set_block(2);
        alpha.set_first_head(1);
        alpha.set_heads(2);
        alpha.set_positions(2);
        for (const float value : {0.5f, 0.25f, 1.0f, std::nanf("")}) alpha.add_values(value);
        stream.Write(response);
      }
      *response.mutable_record() = MakeRecord(index, request.sample());
      if (!spec.summary_only()) stream.Write(response);
    }
    ++index;
    auto& progress = *response.mutable_progress();
    progress.set_samples_done(index);
    progress.set_samples_received(index);
    progress.set_tokens_done(10 * index);
    stream.Write(response);
  }
  *response.mutable_summary() = MakeSummary(spec, answered, 10 * answered);
  stream.Write(response);
  return grpc::Status::OK;
}

v1::AnalysisSpec FakeServer::last_spec() const {
  const std::lock_guard lock(mutex_);
  return spec_;
}

std::vector<v1::Sample> FakeServer::last_samples() const {
  const std::lock_guard lock(mutex_);
  return samples_;
}

std::string FakeServer::last_request_id() const {
  const std::lock_guard lock(mutex_);
  return request_id_;
}

}  // namespace sinkd::testing
