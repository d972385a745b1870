#include "client/model_client.h"

#include <utility>

#include "client/error_report.h"

namespace sinkd::client {
namespace v1 = ::sinks::v1;

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

absl::StatusOr<v1::Model> ModelClient::Load(
    std::string_view name, const LoadOptions& load, const CallOptions& options,
    const std::function<void(const v1::LoadModelResponse&)>& progress) const {
  v1::LoadModelRequest request;
  request.set_name(ModelName(name));
  if (!load.device.empty()) request.set_device(load.device);
  if (load.compute_type != v1::COMPUTE_TYPE_UNSPECIFIED) {
    request.set_compute_type(load.compute_type);
  }
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
