#include "server/service/runs/run_service.h"

#include <utility>

#include "server/base/status.h"
#include "server/service/analyze/codec_spec.h"
#include "server/service/calls/unary_call.h"
#include "server/service/runs/codec_run.h"
#include "server/service/runs/import_stream.h"
#include "server/service/runs/nearest_run.h"
#include "server/service/runs/run_samples.h"
#include "server/service/runs/run_sources.h"

namespace sinkd {
namespace {

namespace v1 = ::sinks::v1;

constexpr int kQueryThreads = 2;
constexpr size_t kWaitingQueries = 256;
constexpr int kStreamThreads = 4;
constexpr size_t kStreams = 64;
constexpr int kDefaultKeys = 10'000;

template <typename Response>
absl::StatusOr<Response> AnswerRun(absl::StatusOr<Run> run) {
  if (!run.ok()) return run.status();
  Response out;
  SINKD_ASSIGN_OR_RETURN(*out.mutable_run(), EncodeRun(*run));
  return out;
}

absl::StatusOr<v1::UpdateRunResponse> Update(RunStore& store, const v1::UpdateRunRequest& request) {
  SINKD_ASSIGN_OR_RETURN(const std::string id, DecodeRunName(request.name(), "name"));
  const bool open = request.state() == v1::RUN_STATE_OPEN;
  if (!open && request.state() != v1::RUN_STATE_COMPLETE) {
    return InvalidArgument("state is none that a run can have",
                           {.reason = "INVALID_RUN_STATE",
                            .subject = "state",
                            .value = std::to_string(static_cast<int>(request.state())),
                            .fix = "set RUN_STATE_OPEN or RUN_STATE_COMPLETE"});
  }
  SINKD_RETURN_IF_ERROR(store.SetState(id, open ? RunState::kOpen : RunState::kComplete));
  return AnswerRun<v1::UpdateRunResponse>(store.Get(id));
}

absl::StatusOr<v1::ListSampleKeysResponse> ListKeys(RunStore& store,
                                                    const v1::ListSampleKeysRequest& request) {
  SINKD_ASSIGN_OR_RETURN(const std::string id, DecodeRunName(request.name(), "name"));
  SINKD_ASSIGN_OR_RETURN(const int64_t after, ReadKeyToken(request.page_token()));
  const int size = request.has_page_size() ? request.page_size() : kDefaultKeys;
  SINKD_ASSIGN_OR_RETURN(KeyPage page, store.ListKeys(id, after, size));
  v1::ListSampleKeysResponse out;
  if (page.keys.size() == static_cast<size_t>(size)) {
    out.set_next_page_token(WriteKeyToken(page.next_after));
  }
  for (std::string& key : page.keys) out.add_sample_keys(std::move(key));
  for (std::string& digest : page.input_digests) out.add_input_digests(std::move(digest));
  return out;
}

}  // namespace

RunService::RunService(RunStore* store, Admission& admission, Metrics& metrics,
                       std::string template_date)
    : store_(store),
      metrics_(metrics),
      template_date_(std::move(template_date)),
      queries_({.name = "run queries", .threads = kQueryThreads, .capacity = kWaitingQueries}),
      waiting_queries_(*queries_.OpenStream(kWaitingQueries)),
      streams_({.name = "run streams",
                .when_full = "retry when another summary, export or import is done",
                .threads = kStreamThreads,
                .capacity = kStreams}),
      stream_resources_{admission, streams_, metrics} {}

void RunService::Shutdown() {
  queries_.Shutdown(Executor::ShutdownMode::kCancel);
  streams_.Shutdown(Executor::ShutdownMode::kCancel);
}

absl::StatusOr<RunStore*> RunService::store() const {
  if (store_ != nullptr) return store_;
  return StoreOff();
}

template <typename Request, typename Response>
grpc::ServerUnaryReactor* RunService::Serve(
    grpc::CallbackServerContext* context, std::string_view method, const grpc::ByteBuffer* bytes,
    grpc::ByteBuffer* answer,
    std::function<absl::StatusOr<Response>(RunStore& store, const Request& request)> work) {
  return ServeUnary<Request, Response>(
      {*waiting_queries_, metrics_}, context, method, bytes, answer,
      [this, work = std::move(work)](const Request& request) -> absl::StatusOr<Response> {
        SINKD_ASSIGN_OR_RETURN(RunStore * runs, store());
        absl::StatusOr<Response> response = work(*runs, request);
        if (!response.ok()) return NameNearestRun(*runs, response.status());
        return response;
      });
}

template <typename Request>
ReplyStream* RunService::Stream(grpc::CallbackServerContext* context, std::string_view method,
                                const grpc::ByteBuffer& bytes,
                                std::function<absl::StatusOr<std::unique_ptr<ReplySource>>(
                                    RunStore& store, const Request& request)>
                                    open) {
  return ReplyStream::Begin(context, method, bytes, stream_resources_,
                            [this, open = std::move(open)](const grpc::ByteBuffer& message)
                                -> absl::StatusOr<std::unique_ptr<ReplySource>> {
                              SINKD_ASSIGN_OR_RETURN(RunStore * runs, store());
                              Request request;
                              if (!ParseMessage(message, request))
                                return MalformedMessage(*request.descriptor());
                              auto source = open(*runs, request);
                              if (!source.ok()) return NameNearestRun(*runs, source.status());
                              return source;
                            });
}

grpc::ServerUnaryReactor* RunService::CreateRun(grpc::CallbackServerContext* context,
                                                const grpc::ByteBuffer* request,
                                                grpc::ByteBuffer* response) {
  return Serve<v1::CreateRunRequest, v1::CreateRunResponse>(
      context, "sinks.v1.RunService/CreateRun", request, response,
      [this](RunStore& runs,
             const v1::CreateRunRequest& in) -> absl::StatusOr<v1::CreateRunResponse> {
        SINKD_ASSIGN_OR_RETURN(StreamSpec spec, DecodeSpec(in.spec(), template_date_));
        spec.run_id = in.run_id();
        spec.run_labels = {in.labels().begin(), in.labels().end()};
        return AnswerRun<v1::CreateRunResponse>(runs.Create(
            MakeNewRun(spec), in.allow_existing() ? IfExists::kContinue : IfExists::kFail));
      });
}

grpc::ServerUnaryReactor* RunService::GetRun(grpc::CallbackServerContext* context,
                                             const grpc::ByteBuffer* request,
                                             grpc::ByteBuffer* response) {
  return Serve<v1::GetRunRequest, v1::GetRunResponse>(
      context, "sinks.v1.RunService/GetRun", request, response,
      [](RunStore& runs, const v1::GetRunRequest& in) -> absl::StatusOr<v1::GetRunResponse> {
        SINKD_ASSIGN_OR_RETURN(const std::string id, DecodeRunName(in.name(), "name"));
        return AnswerRun<v1::GetRunResponse>(runs.Get(id));
      });
}

grpc::ServerUnaryReactor* RunService::ListRuns(grpc::CallbackServerContext* context,
                                               const grpc::ByteBuffer* request,
                                               grpc::ByteBuffer* response) {
  return Serve<v1::ListRunsRequest, v1::ListRunsResponse>(context, "sinks.v1.RunService/ListRuns",
                                                          request, response, PageOfRuns);
}

grpc::ServerUnaryReactor* RunService::UpdateRun(grpc::CallbackServerContext* context,
                                                const grpc::ByteBuffer* request,
                                                grpc::ByteBuffer* response) {
  return Serve<v1::UpdateRunRequest, v1::UpdateRunResponse>(
      context, "sinks.v1.RunService/UpdateRun", request, response, Update);
}

grpc::ServerUnaryReactor* RunService::DeleteRun(grpc::CallbackServerContext* context,
                                                const grpc::ByteBuffer* request,
                                                grpc::ByteBuffer* response) {
  return Serve<v1::DeleteRunRequest, v1::DeleteRunResponse>(
      context, "sinks.v1.RunService/DeleteRun", request, response,
      [](RunStore& runs, const v1::DeleteRunRequest& in) -> absl::StatusOr<v1::DeleteRunResponse> {
        SINKD_ASSIGN_OR_RETURN(const std::string id, DecodeRunName(in.name(), "name"));
        SINKD_RETURN_IF_ERROR(runs.Delete(id));
        return v1::DeleteRunResponse();
      });
}

grpc::ServerUnaryReactor* RunService::ListSampleKeys(grpc::CallbackServerContext* context,
                                                     const grpc::ByteBuffer* request,
                                                     grpc::ByteBuffer* response) {
  return Serve<v1::ListSampleKeysRequest, v1::ListSampleKeysResponse>(
      context, "sinks.v1.RunService/ListSampleKeys", request, response, ListKeys);
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* RunService::StreamRecords(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) {
  return Stream<v1::StreamRecordsRequest>(context, "sinks.v1.RunService/StreamRecords", *request,
                                          SendRecords);
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* RunService::SummarizeRuns(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) {
  return Stream<v1::SummarizeRunsRequest>(context, "sinks.v1.RunService/SummarizeRuns", *request,
                                          SendSummaries);
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* RunService::ListStudies(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) {
  return Stream<v1::ListStudiesRequest>(context, "sinks.v1.RunService/ListStudies", *request,
                                        SendStudies);
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* RunService::BackUpStore(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) {
  return Stream<v1::BackUpStoreRequest>(context, "sinks.v1.RunService/BackUpStore", *request,
                                        SendBackup);
}

grpc::ServerReadReactor<grpc::ByteBuffer>* RunService::ImportRecords(
    grpc::CallbackServerContext* context, grpc::ByteBuffer* response) {
  return ImportStream::Begin(context, "sinks.v1.RunService/ImportRecords", response,
                             stream_resources_, store(), template_date_);
}

absl::StatusOr<v1::ListRunsResponse> PageOfRuns(RunStore& store,
                                                const v1::ListRunsRequest& request) {
  SINKD_ASSIGN_OR_RETURN(const ListOptions options, DecodeList(request));
  SINKD_ASSIGN_OR_RETURN(const RunPage page, store.List(options));
  v1::ListRunsResponse out;
  for (const Run& run : page.runs) {
    SINKD_ASSIGN_OR_RETURN(*out.add_runs(), EncodeRun(run));
  }
  out.set_next_page_token(page.next_page_token);
  if (page.runs.empty() && options.page_token.empty()) {
    if (std::string meant = NearestToFilter(store, options); !meant.empty()) {
      out.set_did_you_mean(std::move(meant));
    }
  }
  return out;
}

}  // namespace sinkd
