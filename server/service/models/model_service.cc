#include "server/service/models/model_service.h"

#include <algorithm>
#include <utility>

#include "server/base/status.h"
#include "server/service/models/codec_family.h"
#include "server/service/models/codec_model.h"
#include "server/service/models/codec_plan.h"
#include "server/service/models/load_stream.h"

namespace sinkd {
namespace {

namespace v1 = ::sinks::v1;

constexpr int kLoadThreads = 16;  // loads, and waits for loads, at once
constexpr int kQueryThreads = 3;
constexpr size_t kWaitingQueries = 256;
constexpr int kPlanThreads = 3;
constexpr size_t kWaitingPlans = 64;
constexpr int32_t kDefaultPageSize = 100;
constexpr int32_t kMaxPageSize = 1000;

// The answer that holds `entry`.
template <typename Response>
absl::StatusOr<Response> AnswerModel(const absl::StatusOr<ModelEntry>& entry) {
  SINKD_RETURN_IF_ERROR(entry.status());
  Response out;
  *out.mutable_model() = EncodeModel(*entry);
  return out;
}

}  // namespace

ModelService::ModelService(ModelCatalog& catalog, const CallResources& calls)
    : CallService(calls),
      loads_({.name = "model loads",
              .when_full = "retry when another load is done",
              .threads = kLoadThreads,
              .capacity = kLoadThreads,
              .caller_percent = calls.max_caller_percent}),
      queries_({.name = "model queries",
                .threads = kQueryThreads,
                .capacity = kWaitingQueries,
                .caller_percent = calls.max_caller_percent}),
      plans_({.name = "model plans",
              .threads = kPlanThreads,
              .capacity = kWaitingPlans,
              .caller_percent = calls.max_caller_percent}) {
  AddUnary<v1::ListModelsRequest>(
      "/sinks.v1.ModelService/ListModels", queries_,
      [&catalog](const v1::ListModelsRequest& in) { return PageOfModels(in, catalog.List()); });
  AddUnary<v1::GetModelRequest>(
      "/sinks.v1.ModelService/GetModel", queries_,
      [&catalog](const v1::GetModelRequest& in) -> absl::StatusOr<v1::GetModelResponse> {
        SINKD_ASSIGN_OR_RETURN(const std::string id, DecodeModelName(in.name(), "name"));
        return AnswerModel<v1::GetModelResponse>(catalog.Get(id));
      });
  AddUnary<v1::PlanModelRequest>(
      "/sinks.v1.ModelService/PlanModel", plans_,
      [&catalog](const v1::PlanModelRequest& in,
                 const std::stop_token& stop) -> absl::StatusOr<v1::PlanModelResponse> {
        SINKD_ASSIGN_OR_RETURN(const PlanRequest wanted, DecodePlanRequest(in, catalog.defaults()));
        SINKD_ASSIGN_OR_RETURN(const PlannedLoad planned,
                               catalog.Plan(wanted.id, wanted.options, wanted.positions, stop));
        return EncodePlan(wanted, planned);
      });
  AddCall<LoadStream>("/sinks.v1.ModelService/LoadModel", calls, &loads_, &catalog);
  AddUnary<v1::UnloadModelRequest>(
      "/sinks.v1.ModelService/UnloadModel", queries_,
      [&catalog](const v1::UnloadModelRequest& in) -> absl::StatusOr<v1::UnloadModelResponse> {
        SINKD_ASSIGN_OR_RETURN(const std::string id, DecodeModelName(in.name(), "name"));
        return AnswerModel<v1::UnloadModelResponse>(catalog.Unload(id));
      });
  AddUnary<v1::ListFamiliesRequest>(
      "/sinks.v1.ModelService/ListFamilies", queries_,
      [](const v1::ListFamiliesRequest&) -> absl::StatusOr<v1::ListFamiliesResponse> {
        return EncodeFamilies(AllFamilyFacts());
      });
}

void ModelService::Shutdown() {
  loads_.Shutdown(Executor::ShutdownMode::kCancel);
  queries_.Shutdown(Executor::ShutdownMode::kCancel);
  plans_.Shutdown(Executor::ShutdownMode::kCancel);
}

absl::StatusOr<sinks::v1::ListModelsResponse> PageOfModels(
    const sinks::v1::ListModelsRequest& request, const std::vector<ModelEntry>& entries) {
  const int32_t size = request.has_page_size() ? request.page_size() : kDefaultPageSize;
  SINKD_RETURN_IF_ERROR(
      CheckRange(size, kMaxPageSize, "INVALID_PAGE_SIZE", "page_size", kDefaultPageSize));
  // A token is the last id of the page before, so that it outlives changes of the folder.
  const std::string& token = request.page_token();
  if (!token.empty() && !IsModelId(token)) {
    return InvalidArgument("page_token is invalid",
                           {.reason = "INVALID_PAGE_TOKEN",
                            .subject = "page_token",
                            .value = Shorten(token),
                            .fix = "use next_page_token of the previous page"});
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
