#include "server/service/models/model_service.h"

#include <algorithm>
#include <utility>

#include <absl/strings/str_cat.h>

#include "server/base/status.h"
#include "server/service/calls/unary_call.h"
#include "server/service/models/codec_family.h"
#include "server/service/models/codec_model.h"
#include "server/service/models/codec_plan.h"

namespace sinkd {
namespace {

constexpr int kLoadThreads = 8;  // loads, and waits for loads, at once
constexpr int kQueryThreads = 2;
constexpr size_t kWaitingQueries = 256;
constexpr int kPlanThreads = 2;
constexpr size_t kWaitingPlans = 64;
constexpr int32_t kDefaultPageSize = 100;
constexpr int32_t kMaxPageSize = 1000;

}  // namespace

ModelService::ModelService(ModelCatalog& catalog, Admission& admission, Metrics& metrics)
    : catalog_(catalog),
      metrics_(metrics),
      loads_({.name = "model loads",
              .when_full = "retry when another load is done",
              .threads = kLoadThreads,
              .capacity = kLoadThreads}),
      load_resources_{catalog, admission, loads_, metrics},
      queries_({.name = "model queries", .threads = kQueryThreads, .capacity = kWaitingQueries}),
      waiting_queries_(*queries_.OpenStream(kWaitingQueries)),
      plans_({.name = "model plans", .threads = kPlanThreads, .capacity = kWaitingPlans}),
      waiting_plans_(*plans_.OpenStream(kWaitingPlans)) {}

void ModelService::Shutdown() {
  loads_.Shutdown(Executor::ShutdownMode::kCancel);
  queries_.Shutdown(Executor::ShutdownMode::kCancel);
  plans_.Shutdown(Executor::ShutdownMode::kCancel);
}

grpc::ServerUnaryReactor* ModelService::ListModels(grpc::CallbackServerContext* context,
                                                   const grpc::ByteBuffer* request,
                                                   grpc::ByteBuffer* response) {
  return ServeUnary<sinks::v1::ListModelsRequest, sinks::v1::ListModelsResponse>(
      {*waiting_queries_, metrics_}, context, "sinks.v1.ModelService/ListModels", request, response,
      [this](const sinks::v1::ListModelsRequest& in) { return PageOfModels(in, catalog_.List()); });
}

grpc::ServerUnaryReactor* ModelService::GetModel(grpc::CallbackServerContext* context,
                                                 const grpc::ByteBuffer* request,
                                                 grpc::ByteBuffer* response) {
  return ServeUnary<sinks::v1::GetModelRequest, sinks::v1::GetModelResponse>(
      {*waiting_queries_, metrics_}, context, "sinks.v1.ModelService/GetModel", request, response,
      [this](const sinks::v1::GetModelRequest& in) -> absl::StatusOr<sinks::v1::GetModelResponse> {
        SINKD_ASSIGN_OR_RETURN(const std::string id, DecodeModelName(in.name(), "name"));
        SINKD_ASSIGN_OR_RETURN(const ModelEntry entry, catalog_.Get(id));
        sinks::v1::GetModelResponse out;
        *out.mutable_model() = EncodeModel(entry);
        return out;
      });
}

grpc::ServerUnaryReactor* ModelService::PlanModel(grpc::CallbackServerContext* context,
                                                  const grpc::ByteBuffer* request,
                                                  grpc::ByteBuffer* response) {
  return ServeUnary<sinks::v1::PlanModelRequest, sinks::v1::PlanModelResponse>(
      {*waiting_plans_, metrics_}, context, "sinks.v1.ModelService/PlanModel", request, response,
      [this](const sinks::v1::PlanModelRequest& in,
             std::stop_token stop) -> absl::StatusOr<sinks::v1::PlanModelResponse> {
        SINKD_ASSIGN_OR_RETURN(const PlanRequest wanted,
                               DecodePlanRequest(in, catalog_.defaults()));
        SINKD_ASSIGN_OR_RETURN(
            const PlannedLoad planned,
            catalog_.Plan(wanted.id, wanted.options, wanted.positions, std::move(stop)));
        return EncodePlan(wanted, planned);
      });
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* ModelService::LoadModel(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) {
  return LoadStream::Begin(context, *request, load_resources_);
}

grpc::ServerUnaryReactor* ModelService::UnloadModel(grpc::CallbackServerContext* context,
                                                    const grpc::ByteBuffer* request,
                                                    grpc::ByteBuffer* response) {
  return ServeUnary<sinks::v1::UnloadModelRequest, sinks::v1::UnloadModelResponse>(
      {*waiting_queries_, metrics_}, context, "sinks.v1.ModelService/UnloadModel", request,
      response,
      [this](const sinks::v1::UnloadModelRequest& in)
          -> absl::StatusOr<sinks::v1::UnloadModelResponse> {
        SINKD_ASSIGN_OR_RETURN(const std::string id, DecodeModelName(in.name(), "name"));
        SINKD_ASSIGN_OR_RETURN(const ModelEntry entry, catalog_.Unload(id));
        sinks::v1::UnloadModelResponse out;
        *out.mutable_model() = EncodeModel(entry);
        return out;
      });
}

grpc::ServerUnaryReactor* ModelService::ListFamilies(grpc::CallbackServerContext* context,
                                                     const grpc::ByteBuffer* request,
                                                     grpc::ByteBuffer* response) {
  return ServeUnary<sinks::v1::ListFamiliesRequest, sinks::v1::ListFamiliesResponse>(
      {*waiting_queries_, metrics_}, context, "sinks.v1.ModelService/ListFamilies", request,
      response,
      [](const sinks::v1::ListFamiliesRequest&) -> absl::StatusOr<sinks::v1::ListFamiliesResponse> {
        return EncodeFamilies(AllFamilyFacts());
      });
}

absl::StatusOr<sinks::v1::ListModelsResponse> PageOfModels(
    const sinks::v1::ListModelsRequest& request, const std::vector<ModelEntry>& entries) {
  const int32_t size = request.has_page_size() ? request.page_size() : kDefaultPageSize;
  SINKD_RETURN_IF_ERROR(
      CheckRange(size, kMaxPageSize, "INVALID_PAGE_SIZE", "page_size", kDefaultPageSize));
  // A token is the last id of the page before, so that it outlives changes of the folder.
  const std::string& token = request.page_token();
  if (!token.empty() && !IsModelId(token)) {
    return InvalidArgument("page_token is none of ours",
                           {.reason = "INVALID_PAGE_TOKEN",
                            .subject = "page_token",
                            .value = Shorten(token),
                            .fix = "use next_page_token of the page before"});
  }
  const auto begin =
      std::find_if(entries.begin(), entries.end(),
                   [&token](const ModelEntry& entry) { return token.empty() || entry.id > token; });
  const auto end = begin + std::min<std::ptrdiff_t>(size, entries.end() - begin);
  sinks::v1::ListModelsResponse response;
  for (auto entry = begin; entry != end; ++entry) *response.add_models() = EncodeModel(*entry);
  if (end != entries.end()) response.set_next_page_token((end - 1)->id);
  return response;
}

}  // namespace sinkd
