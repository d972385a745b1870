#include "client/model_client.h"

#include <optional>
#include <utility>

namespace sinkd::client {
namespace v1 = ::sinks::v1;
namespace {

constexpr int32_t kTensorsAPage = 5000;

}  // namespace

absl::Status ModelClient::List(const CallOptions& options,
                               const std::function<void(const v1::Model&)>& visit) const {
  return CallPages(&Stub::ListModels, {}, options, [&](const v1::ListModelsResponse& page) {
    for (const v1::Model& model : page.models()) visit(model);
  });
}

absl::StatusOr<v1::Model> ModelClient::Get(std::string_view name,
                                           const CallOptions& options) const {
  v1::GetModelRequest request;
  request.set_name(ModelName(name));
  const auto response = Call(&Stub::GetModel, request, options);
  if (!response.ok()) return response.status();
  return response->model();
}

absl::StatusOr<v1::PlanModelResponse> ModelClient::Plan(v1::PlanModelRequest request, bool tensors,
                                                        const CallOptions& options) const {
  request.set_name(ModelName(request.name()));
  request.set_page_size(tensors ? kTensorsAPage : 1);
  v1::PlanModelResponse whole;
  if (!tensors) {
    absl::StatusOr<v1::PlanModelResponse> page = Call(&Stub::PlanModel, request, options);
    if (!page.ok()) return page.status();
    *whole.mutable_plan() = std::move(*page->mutable_plan());
    return whole;
  }
  const absl::Status status = CallPages(&Stub::PlanModel, std::move(request), options,
                                        [&](const v1::PlanModelResponse& page) {
                                          if (!whole.has_plan())
                                            *whole.mutable_plan() = page.plan();
                                          whole.mutable_tensors()->MergeFrom(page.tensors());
                                        });
  if (!status.ok()) return status;
  return whole;
}

absl::StatusOr<v1::Model> ModelClient::Load(
    v1::LoadModelRequest request, const CallOptions& options,
    const std::function<void(const v1::LoadModelResponse&)>& progress) const {
  request.set_name(ModelName(request.name()));
  std::optional<v1::Model> model;
  const absl::Status status =
      CallStream(&Stub::LoadModel, request, options, [&](const v1::LoadModelResponse& response) {
        if (response.has_model()) {
          model = response.model();
        } else if (progress) {
          progress(response);
        }
        return absl::OkStatus();
      });
  if (!status.ok()) return status;
  if (!model) return absl::InternalError("the load ended without an answer of the server");
  return *std::move(model);
}

absl::StatusOr<v1::Model> ModelClient::Unload(std::string_view name,
                                              const CallOptions& options) const {
  v1::UnloadModelRequest request;
  request.set_name(ModelName(name));
  const auto response = Call(&Stub::UnloadModel, request, options);
  if (!response.ok()) return response.status();
  return response->model();
}

}  // namespace sinkd::client
