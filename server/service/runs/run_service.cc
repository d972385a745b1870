#include "server/service/runs/run_service.h"

#include <utility>

#include "server/base/status.h"
#include "server/service/analyze/stream_spec.h"
#include "server/service/calls/message_bytes.h"
#include "server/service/runs/codec_run.h"
#include "server/service/runs/import_stream.h"
#include "server/service/runs/nearest_run.h"
#include "server/service/runs/run_samples.h"
#include "server/service/runs/run_sources.h"

namespace sinkd {
namespace {

namespace v1 = ::sinks::v1;

constexpr int kQueryThreads = 3;
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
  SINKD_ASSIGN_OR_RETURN(const int64_t after, ReadSequenceToken(request.page_token()));
  const int size = request.has_page_size() ? request.page_size() : kDefaultKeys;
  SINKD_ASSIGN_OR_RETURN(KeyPage page, store.ListKeys(id, after, size));
  v1::ListSampleKeysResponse out;
  if (page.keys.size() == static_cast<size_t>(size)) {
    out.set_next_page_token(WriteSequenceToken(page.next_after));
  }
  for (std::string& key : page.keys) out.add_sample_keys(std::move(key));
  for (std::string& digest : page.input_digests) out.add_input_digests(std::move(digest));
  return out;
}

absl::StatusOr<v1::CreateRunResponse> Create(RunStore& store, const v1::CreateRunRequest& request,
                                             const std::string& template_date) {
  SINKD_ASSIGN_OR_RETURN(v1::AnalysisSpec spec, CompleteSpec(request.spec(), template_date));
  spec.set_run_id(request.run_id());
  *spec.mutable_run_labels() = request.labels();
  return AnswerRun<v1::CreateRunResponse>(store.Create(
      MakeNewRun(spec), request.allow_existing() ? IfExists::kContinue : IfExists::kFail));
}

absl::StatusOr<v1::GetRunResponse> Get(RunStore& store, const v1::GetRunRequest& request) {
  SINKD_ASSIGN_OR_RETURN(const std::string id, DecodeRunName(request.name(), "name"));
  return AnswerRun<v1::GetRunResponse>(store.Get(id));
}

absl::StatusOr<v1::DeleteRunResponse> Delete(RunStore& store, const v1::DeleteRunRequest& request) {
  SINKD_ASSIGN_OR_RETURN(const std::string id, DecodeRunName(request.name(), "name"));
  SINKD_RETURN_IF_ERROR(store.Delete(id));
  return v1::DeleteRunResponse();
}

}  // namespace

RunService::RunService(RunStore* store, const CallResources& calls,
                       const std::string& template_date)
    : CallService(calls),
      store_(store),
      queries_({.name = "run queries",
                .threads = kQueryThreads,
                .capacity = kWaitingQueries,
                .caller_percent = calls.max_caller_percent}),
      streams_({.name = "run streams",
                .when_full = "retry when another summary, export or import is done",
                .threads = kStreamThreads,
                .capacity = kStreams,
                .caller_percent = calls.max_caller_percent}) {
  AddQuery<v1::CreateRunRequest>(
      "/sinks.v1.RunService/CreateRun",
      [template_date](RunStore& runs, const v1::CreateRunRequest& request) {
        return Create(runs, request, template_date);
      });
  AddQuery<v1::GetRunRequest>("/sinks.v1.RunService/GetRun", Get);
  AddQuery<v1::ListRunsRequest>("/sinks.v1.RunService/ListRuns", PageOfRuns);
  AddQuery<v1::UpdateRunRequest>("/sinks.v1.RunService/UpdateRun", Update);
  AddQuery<v1::DeleteRunRequest>("/sinks.v1.RunService/DeleteRun", Delete);
  AddQuery<v1::ListSampleKeysRequest>("/sinks.v1.RunService/ListSampleKeys", ListKeys);
  AddStream<v1::StreamRecordsRequest>("/sinks.v1.RunService/StreamRecords", SendRecords);
  AddStream<v1::SummarizeRunsRequest>("/sinks.v1.RunService/SummarizeRuns", SendSummaries);
  AddStream<v1::ListStudiesRequest>("/sinks.v1.RunService/ListStudies", SendStudies);
  AddStream<v1::BackUpStoreRequest>("/sinks.v1.RunService/BackUpStore", SendBackup);
  AddCall<ImportStream>("/sinks.v1.RunService/ImportRecords", calls, &streams_, store,
                        template_date);
}

void RunService::Shutdown() {
  queries_.Shutdown(Executor::ShutdownMode::kCancel);
  streams_.Shutdown(Executor::ShutdownMode::kCancel);
}

absl::StatusOr<RunStore*> RunService::store() const {
  if (store_ != nullptr) return store_;
  return StoreOff();
}

template <typename Request, typename Work>
void RunService::AddQuery(const char* path, Work work) {
  AddUnary<Request>(path, queries_,
                    [this, work](const Request& request) -> decltype(work(*store_, request)) {
                      SINKD_ASSIGN_OR_RETURN(RunStore * runs, store());
                      auto response = work(*runs, request);
                      if (!response.ok()) return NameNearestRun(*runs, response.status());
                      return response;
                    });
}

template <typename Request>
void RunService::AddStream(const char* path, absl::StatusOr<std::unique_ptr<ReplySource>> (*open)(
                                                 RunStore& store, const Request& request)) {
  const auto read =
      [this,
       open](const grpc::ByteBuffer& message) -> absl::StatusOr<std::unique_ptr<ReplySource>> {
    SINKD_ASSIGN_OR_RETURN(RunStore * runs, store());
    Request request;
    if (!ParseMessage(message, request)) return MalformedMessage(*request.descriptor());
    auto source = open(*runs, request);
    if (!source.ok()) return NameNearestRun(*runs, source.status());
    return source;
  };
  AddCall<ReplyStream>(path, calls(), &streams_, ReplyStream::Open(read));
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
