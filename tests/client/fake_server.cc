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

}  // namespace

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

  grpc::Status PlanModel(grpc::ServerContext* context, const v1::PlanModelRequest* request,
                         v1::PlanModelResponse* response) override {
    if (grpc::Status status = server_.NextUnary(*context); !status.ok()) return status;
    {
      const std::lock_guard lock(server_.mutex_);
      server_.plan_requests_.push_back(*request);
    }
    v1::Model model;
    if (grpc::Status status = Find(request->name(), model); !status.ok()) return status;
    *response = MakePlan(*request, server_.free_bytes);
    if (!server_.evicted.empty()) {
      v1::ModelPlan& plan = *response->mutable_plan();
      plan.mutable_devices(0)->set_evicted_bytes(int64_t{200} << 20);
      plan.mutable_evicted()->Assign(server_.evicted.begin(), server_.evicted.end());
    }
    return grpc::Status::OK;
  }

  grpc::Status ListFamilies(grpc::ServerContext* context, const v1::ListFamiliesRequest*,
                            v1::ListFamiliesResponse* response) override {
    if (grpc::Status status = server_.NextUnary(*context); !status.ok()) return status;
    *response = server_.families;
    return grpc::Status::OK;
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
    model.set_residency(request->has_residency() ? request->residency() : v1::RESIDENCY_RESIDENT);
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

class FakeServer::Mechanism : public v1::MechanismService::Service {
 public:
  explicit Mechanism(FakeServer& server) : server_(server) {}

  grpc::Status RunStudy(grpc::ServerContext*, const v1::RunStudyRequest* request,
                        grpc::ServerWriter<v1::RunStudyResponse>* writer) override {
    {
      const std::lock_guard lock(server_.mutex_);
      server_.study_requests_.push_back(*request);
    }
    v1::RunStudyResponse response;
    *response.mutable_started() = MakeStudyStarted(*request);
    writer->Write(response);
    for (const auto& [index, status] : server_.sample_errors) {
      v1::SampleError& error = *response.mutable_sample_error();
      error.set_sample_index(index);
      error.mutable_status()->ParseFromString(status.error_details());
      writer->Write(response);
    }
    response.mutable_progress()->set_phase("detect");
    response.mutable_progress()->set_steps_done(1);
    response.mutable_progress()->set_steps_total(2);
    writer->Write(response);
    if (!server_.study_status.ok()) return server_.study_status;
    *response.mutable_report() = MakeStudyReport(*request);
    if (server_.edit_report) server_.edit_report(*response.mutable_report());
    writer->Write(response);
    return grpc::Status::OK;
  }

 private:
  FakeServer& server_;
};

FakeServer::FakeServer()
    : models_service_(std::make_unique<Models>(*this)),
      analysis_service_(std::make_unique<Analysis>(*this)),
      mechanism_service_(std::make_unique<Mechanism>(*this)) {
  for (const char* name : {"models/alpha", "models/beta", "models/gamma"}) {
    v1::Model& model = models.emplace_back();
    model.set_name(name);
    model.set_state(v1::MODEL_STATE_AVAILABLE);
    model.set_architecture("llama");
    model.set_blocks(kFakeBlocks);
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
  builder.RegisterService(mechanism_service_.get());
  builder.RegisterService(&runs);
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
  if (spec.no_summary()) return grpc::Status::OK;
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

std::vector<v1::PlanModelRequest> FakeServer::plan_requests() const {
  const std::lock_guard lock(mutex_);
  return plan_requests_;
}

std::vector<v1::RunStudyRequest> FakeServer::study_requests() const {
  const std::lock_guard lock(mutex_);
  return study_requests_;
}

std::string FakeServer::last_request_id() const {
  const std::lock_guard lock(mutex_);
  return request_id_;
}

}  // namespace sinkd::testing
