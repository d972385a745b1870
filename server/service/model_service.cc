#include "server/service/model_service.h"

#include <algorithm>
#include <utility>

#include <absl/strings/str_cat.h>

#include "server/base/status.h"
#include "server/service/call_record.h"
#include "server/service/codec_model.h"
#include "server/service/status_mapping.h"

namespace sinkd {
namespace {

constexpr int kLoadThreads = 8;  // loads, and waits for loads, at once
constexpr int kQueryThreads = 2;
constexpr size_t kWaitingQueries = 256;
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
      waiting_queries_(*queries_.OpenStream(kWaitingQueries)) {}

void ModelService::Shutdown() {
  loads_.Shutdown(Executor::ShutdownMode::kCancel);
  queries_.Shutdown(Executor::ShutdownMode::kCancel);
}

grpc::ServerUnaryReactor* ModelService::Serve(grpc::CallbackServerContext* context,
                                              std::string_view method,
                                              std::function<absl::Status()> work) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  auto record = std::make_shared<CallRecord>(*context, method, metrics_);
  const auto run = [reactor, record = std::move(record),
                    work = std::move(work)](const absl::Status& admitted) {
    const absl::Status status = admitted.ok() ? work() : admitted;
    record->End(status);
    reactor->Finish(ToGrpcStatus(status));
  };
  const absl::Status submitted =
      waiting_queries_->Submit({.run = run, .deadline = context->deadline()});
  if (!submitted.ok()) run(submitted);
  return reactor;
}

grpc::ServerUnaryReactor* ModelService::ListModels(grpc::CallbackServerContext* context,
                                                   const sinks::v1::ListModelsRequest* request,
                                                   sinks::v1::ListModelsResponse* response) {
  return Serve(context, "sinks.v1.ModelService/ListModels", [this, request, response] {
    SINKD_ASSIGN_OR_RETURN(*response, PageOfModels(*request, catalog_.List()));
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* ModelService::GetModel(grpc::CallbackServerContext* context,
                                                 const sinks::v1::GetModelRequest* request,
                                                 sinks::v1::GetModelResponse* response) {
  return Serve(context, "sinks.v1.ModelService/GetModel", [this, request, response] {
    SINKD_ASSIGN_OR_RETURN(const std::string id, DecodeModelName(request->name(), "name"));
    SINKD_ASSIGN_OR_RETURN(const ModelEntry entry, catalog_.Get(id));
    *response->mutable_model() = EncodeModel(entry);
    return absl::OkStatus();
  });
}

grpc::ServerWriteReactor<sinks::v1::LoadModelResponse>* ModelService::LoadModel(
    grpc::CallbackServerContext* context, const sinks::v1::LoadModelRequest* request) {
  return LoadStream::Begin(context, *request, load_resources_);
}

grpc::ServerUnaryReactor* ModelService::UnloadModel(grpc::CallbackServerContext* context,
                                                    const sinks::v1::UnloadModelRequest* request,
                                                    sinks::v1::UnloadModelResponse* response) {
  return Serve(context, "sinks.v1.ModelService/UnloadModel", [this, request, response] {
    SINKD_ASSIGN_OR_RETURN(const std::string id, DecodeModelName(request->name(), "name"));
    SINKD_ASSIGN_OR_RETURN(const ModelEntry entry, catalog_.Unload(id));
    *response->mutable_model() = EncodeModel(entry);
    return absl::OkStatus();
  });
}

absl::StatusOr<sinks::v1::ListModelsResponse> PageOfModels(
    const sinks::v1::ListModelsRequest& request, const std::vector<ModelEntry>& entries) {
  const int32_t size = request.has_page_size() ? request.page_size() : kDefaultPageSize;
  if (size < 1 || size > kMaxPageSize) {
    return InvalidArgument(absl::StrCat("page_size must be 1 to ", kMaxPageSize),
                           {.reason = "INVALID_PAGE_SIZE",
                            .subject = "page_size",
                            .value = absl::StrCat(size),
                            .fix = "leave it out for 100"});
  }
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
