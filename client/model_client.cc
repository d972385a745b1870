#include "client/model_client.h"

#include <utility>

#include "client/error_report.h"

namespace sinkd::client {
namespace v1 = ::sinks::v1;
namespace {

constexpr int32_t kTensorsAPage = 5000;

template <typename Request>
void SetLoad(const LoadOptions& load, Request& request) {
  if (!load.device.empty()) request.set_device(load.device);
  if (load.compute_type != v1::COMPUTE_TYPE_UNSPECIFIED) {
    request.set_compute_type(load.compute_type);
  }
  if (load.residency != v1::RESIDENCY_UNSPECIFIED) request.set_residency(load.residency);
}

}  // namespace

std::string ModelName(std::string_view name) {
  constexpr std::string_view kPrefix = "models/";
  return name.starts_with(kPrefix) ? std::string(name) : std::string(kPrefix).append(name);
}

ModelClient::ModelClient(std::shared_ptr<grpc::Channel> channel, RetryPolicy retry)
    : stub_(v1::ModelService::NewStub(std::move(channel))), retry_(std::move(retry)) {}

absl::Status ModelClient::List(const CallOptions& options,
                               const std::function<void(const v1::Model&)>& visit) const {
  v1::ListModelsRequest request;
  while (true) {
    v1::ListModelsResponse response;
    const absl::Status status = CallWithRetry(retry_, options, [&](grpc::ClientContext* context) {
      return stub_->ListModels(context, request, &response);
    });
    if (!status.ok()) return status;
    for (const v1::Model& model : response.models()) visit(model);
    if (response.next_page_token().empty()) return absl::OkStatus();
    if (response.next_page_token() == request.page_token()) {
      return absl::InternalError("the server's list of models does not advance");
    }
    request.set_page_token(response.next_page_token());
  }
}

absl::StatusOr<v1::Model> ModelClient::Get(std::string_view name,
                                           const CallOptions& options) const {
  v1::GetModelRequest request;
  request.set_name(ModelName(name));
  v1::GetModelResponse response;
  const absl::Status status = CallWithRetry(retry_, options, [&](grpc::ClientContext* context) {
    return stub_->GetModel(context, request, &response);
  });
  if (!status.ok()) return status;
  return std::move(*response.mutable_model());
}

absl::StatusOr<v1::PlanModelResponse> ModelClient::Plan(std::string_view name,
                                                        const PlanOptions& plan,
                                                        const CallOptions& options) const {
  v1::PlanModelRequest request;
  request.set_name(ModelName(name));
  SetLoad(plan.load, request);
  if (plan.positions) request.set_positions(*plan.positions);
  request.set_page_size(plan.tensors ? kTensorsAPage : 1);
  std::optional<v1::PlanModelResponse> whole;
  while (true) {
    v1::PlanModelResponse page;
    const absl::Status status = CallWithRetry(retry_, options, [&](grpc::ClientContext* context) {
      return stub_->PlanModel(context, request, &page);
    });
    if (!status.ok()) return status;
    const std::string next = page.next_page_token();
    if (!whole) {
      whole = std::move(page);
      whole->clear_next_page_token();
    } else {
      whole->mutable_tensors()->MergeFrom(page.tensors());
    }
    if (!plan.tensors) whole->clear_tensors();
    if (!plan.tensors || next.empty()) return *std::move(whole);
    if (next == request.page_token()) {
      return absl::InternalError("the server's list of tensors does not advance");
    }
    request.set_page_token(next);
  }
}

absl::StatusOr<v1::Model> ModelClient::Load(
    std::string_view name, const LoadOptions& load, const CallOptions& options,
    const std::function<void(const v1::LoadModelResponse&)>& progress) const {
  v1::LoadModelRequest request;
  request.set_name(ModelName(name));
  SetLoad(load, request);
  if (load.activation_quantization != v1::ACTIVATION_QUANTIZATION_UNSPECIFIED) {
    request.set_activation_quantization(load.activation_quantization);
  }
  if (load.pinned) request.set_pinned(*load.pinned);
  ScopedCall call(options);
  const auto reader = stub_->LoadModel(call.context(), request);
  v1::LoadModelResponse response;
  std::optional<v1::Model> model;
  while (reader->Read(&response)) {
    if (response.has_model()) {
      model = std::move(*response.mutable_model());
    } else if (progress) {
      progress(response);
    }
  }
  const absl::Status status = FromGrpcStatus(reader->Finish());
  if (!status.ok()) return status;
  if (!model) return absl::InternalError("the load ended without an answer of the server");
  return *std::move(model);
}

absl::StatusOr<v1::ListFamiliesResponse> ModelClient::Families(const CallOptions& options) const {
  v1::ListFamiliesResponse response;
  const absl::Status status = CallWithRetry(retry_, options, [&](grpc::ClientContext* context) {
    return stub_->ListFamilies(context, {}, &response);
  });
  if (!status.ok()) return status;
  return response;
}

absl::StatusOr<v1::Model> ModelClient::Unload(std::string_view name,
                                              const CallOptions& options) const {
  v1::UnloadModelRequest request;
  request.set_name(ModelName(name));
  v1::UnloadModelResponse response;
  const absl::Status status = CallWithRetry(retry_, options, [&](grpc::ClientContext* context) {
    return stub_->UnloadModel(context, request, &response);
  });
  if (!status.ok()) return status;
  return std::move(*response.mutable_model());
}

}  // namespace sinkd::client
