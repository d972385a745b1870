#include "client/run_client.h"

#include <utility>

#include "client/error_report.h"

namespace sinkd::client {
namespace v1 = ::sinks::v1;
namespace {

// Shows every message of a stream to `visit`; its error ends the call.
template <typename Message, typename Reader, typename Visit>
absl::Status ReadStream(ScopedCall& call, Reader& reader, const Visit& visit) {
  absl::Status own;
  Message message;
  while (own.ok() && reader.Read(&message)) own = visit(message);
  if (!own.ok()) {
    call.context()->TryCancel();
    while (reader.Read(&message)) {
    }
  }
  const absl::Status server = FromGrpcStatus(reader.Finish());
  return own.ok() ? server : own;
}

// Calls `fetch` for page after page; it returns the token of the next one.
template <typename Request, typename Fetch>
absl::Status ReadPages(Request& request, const Fetch& fetch) {
  while (true) {
    const absl::StatusOr<std::string> next = fetch(request);
    if (!next.ok()) return next.status();
    if (next->empty()) return absl::OkStatus();
    if (*next == request.page_token()) {
      return absl::InternalError("the server's list does not advance");
    }
    request.set_page_token(*next);
  }
}

}  // namespace

std::string RunName(std::string_view name) {
  constexpr std::string_view kPrefix = "runs/";
  return name.starts_with(kPrefix) ? std::string(name) : std::string(kPrefix).append(name);
}

RunClient::RunClient(std::shared_ptr<grpc::Channel> channel, RetryPolicy retry)
    : stub_(v1::RunService::NewStub(std::move(channel))), retry_(std::move(retry)) {}

absl::StatusOr<v1::Run> RunClient::Create(const v1::CreateRunRequest& request,
                                          const CallOptions& options) const {
  v1::CreateRunResponse response;
  const absl::Status status = CallWithRetry(retry_, options, [&](grpc::ClientContext* context) {
    return stub_->CreateRun(context, request, &response);
  });
  if (!status.ok()) return status;
  return std::move(*response.mutable_run());
}

absl::StatusOr<v1::Run> RunClient::Get(std::string_view name, const CallOptions& options) const {
  v1::GetRunRequest request;
  request.set_name(RunName(name));
  v1::GetRunResponse response;
  const absl::Status status = CallWithRetry(retry_, options, [&](grpc::ClientContext* context) {
    return stub_->GetRun(context, request, &response);
  });
  if (!status.ok()) return status;
  return std::move(*response.mutable_run());
}

absl::Status RunClient::List(const v1::RunFilter& filter, const CallOptions& options,
                             const std::function<void(const v1::Run&)>& visit) const {
  v1::ListRunsRequest first;
  *first.mutable_filter() = filter;
  return ReadPages(first, [&](const v1::ListRunsRequest& request) -> absl::StatusOr<std::string> {
    v1::ListRunsResponse response;
    const absl::Status status = CallWithRetry(retry_, options, [&](grpc::ClientContext* context) {
      return stub_->ListRuns(context, request, &response);
    });
    if (!status.ok()) return status;
    for (const v1::Run& run : response.runs()) visit(run);
    return response.next_page_token();
  });
}

absl::StatusOr<std::string> RunClient::DidYouMean(const v1::RunFilter& filter,
                                                  const CallOptions& options) const {
  v1::ListRunsRequest request;
  *request.mutable_filter() = filter;
  request.set_page_size(1);
  v1::ListRunsResponse response;
  const absl::Status status = CallWithRetry(retry_, options, [&](grpc::ClientContext* context) {
    return stub_->ListRuns(context, request, &response);
  });
  if (!status.ok()) return status;
  return response.did_you_mean();
}

absl::StatusOr<v1::Run> RunClient::SetState(std::string_view name, v1::RunState state,
                                            const CallOptions& options) const {
  v1::UpdateRunRequest request;
  request.set_name(RunName(name));
  request.set_state(state);
  v1::UpdateRunResponse response;
  const absl::Status status = CallWithRetry(retry_, options, [&](grpc::ClientContext* context) {
    return stub_->UpdateRun(context, request, &response);
  });
  if (!status.ok()) return status;
  return std::move(*response.mutable_run());
}

absl::Status RunClient::Delete(std::string_view name, const CallOptions& options) const {
  v1::DeleteRunRequest request;
  request.set_name(RunName(name));
  v1::DeleteRunResponse response;
  return CallWithRetry(retry_, options, [&](grpc::ClientContext* context) {
    return stub_->DeleteRun(context, request, &response);
  });
}

absl::Status RunClient::SampleKeys(
    std::string_view name, const CallOptions& options,
    const std::function<void(const std::string&, const std::string&)>& visit) const {
  v1::ListSampleKeysRequest first;
  first.set_name(RunName(name));
  return ReadPages(first,
                   [&](const v1::ListSampleKeysRequest& request) -> absl::StatusOr<std::string> {
                     v1::ListSampleKeysResponse response;
                     const absl::Status status =
                         CallWithRetry(retry_, options, [&](grpc::ClientContext* context) {
                           return stub_->ListSampleKeys(context, request, &response);
                         });
                     if (!status.ok()) return status;
                     for (int i = 0; i < response.sample_keys_size(); ++i) {
                       const bool known = i < response.input_digests_size();
                       visit(response.sample_keys(i), known ? response.input_digests(i) : "");
                     }
                     return response.next_page_token();
                   });
}

absl::Status RunClient::Records(
    const v1::StreamRecordsRequest& request, const CallOptions& options,
    const std::function<absl::Status(const v1::StoredRecord&)>& visit) const {
  ScopedCall call(options);
  const auto stream = stub_->StreamRecords(call.context(), request);
  return ReadStream<v1::StreamRecordsResponse>(
      call, *stream, [&](const v1::StreamRecordsResponse& response) {
        for (const v1::StoredRecord& record : response.records()) {
          if (absl::Status status = visit(record); !status.ok()) return status;
        }
        return absl::OkStatus();
      });
}

absl::Status RunClient::Summarize(
    const v1::SummarizeRunsRequest& request, const CallOptions& options,
    const std::function<absl::Status(const v1::SummarizeRunsResponse&)>& visit) const {
  ScopedCall call(options);
  const auto stream = stub_->SummarizeRuns(call.context(), request);
  return ReadStream<v1::SummarizeRunsResponse>(call, *stream, visit);
}

absl::Status RunClient::Studies(
    std::string_view name, const CallOptions& options,
    const std::function<absl::Status(const v1::ListStudiesResponse&)>& visit) const {
  v1::ListStudiesRequest request;
  request.set_name(RunName(name));
  ScopedCall call(options);
  const auto stream = stub_->ListStudies(call.context(), request);
  return ReadStream<v1::ListStudiesResponse>(call, *stream, visit);
}

absl::Status RunClient::BackUp(
    const CallOptions& options,
    const std::function<absl::Status(const v1::BackUpStoreResponse&)>& visit) const {
  ScopedCall call(options);
  const auto stream = stub_->BackUpStore(call.context(), v1::BackUpStoreRequest());
  return ReadStream<v1::BackUpStoreResponse>(call, *stream, visit);
}

absl::StatusOr<v1::ImportRecordsResponse> RunClient::Import(const ImportSource& next,
                                                            const CallOptions& options) const {
  ScopedCall call(options);
  v1::ImportRecordsResponse response;
  const auto stream = stub_->ImportRecords(call.context(), &response);
  absl::Status own;
  while (true) {
    const absl::StatusOr<std::optional<v1::ImportRecordsRequest>> message = next();
    own = message.status();
    if (!own.ok()) call.context()->TryCancel();
    if (!own.ok() || !message->has_value()) break;
    if (!stream->Write(**message)) break;  // the server has ended the call: Finish says why
  }
  if (own.ok()) stream->WritesDone();
  const absl::Status server = FromGrpcStatus(stream->Finish());
  if (!own.ok()) return own;
  if (!server.ok()) return server;
  return response;
}

}  // namespace sinkd::client
