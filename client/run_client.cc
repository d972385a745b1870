#include "client/run_client.h"

namespace sinkd::client {
namespace v1 = ::sinks::v1;

absl::StatusOr<v1::Run> RunClient::Get(std::string_view name, const CallOptions& options) const {
  v1::GetRunRequest request;
  request.set_name(RunName(name));
  const auto response = Call(&Stub::GetRun, request, options);
  if (!response.ok()) return response.status();
  return response->run();
}

absl::Status RunClient::List(const v1::RunFilter& filter, const CallOptions& options,
                             const std::function<void(const v1::Run&)>& visit) const {
  v1::ListRunsRequest request;
  *request.mutable_filter() = filter;
  return CallPages(&Stub::ListRuns, request, options, [&](const v1::ListRunsResponse& page) {
    for (const v1::Run& run : page.runs()) visit(run);
  });
}

absl::StatusOr<std::string> RunClient::DidYouMean(const v1::RunFilter& filter,
                                                  const CallOptions& options) const {
  v1::ListRunsRequest request;
  *request.mutable_filter() = filter;
  request.set_page_size(1);
  const auto response = Call(&Stub::ListRuns, request, options);
  if (!response.ok()) return response.status();
  return response->did_you_mean();
}

absl::StatusOr<v1::Run> RunClient::SetState(std::string_view name, v1::RunState state,
                                            const CallOptions& options) const {
  v1::UpdateRunRequest request;
  request.set_name(RunName(name));
  request.set_state(state);
  const auto response = Call(&Stub::UpdateRun, request, options);
  if (!response.ok()) return response.status();
  return response->run();
}

absl::Status RunClient::Delete(std::string_view name, const CallOptions& options) const {
  v1::DeleteRunRequest request;
  request.set_name(RunName(name));
  return Call(&Stub::DeleteRun, request, options).status();
}

absl::Status RunClient::SampleKeys(
    std::string_view name, const CallOptions& options,
    const std::function<void(const std::string&, const std::string&)>& visit) const {
  v1::ListSampleKeysRequest request;
  request.set_name(RunName(name));
  return CallPages(&Stub::ListSampleKeys, request, options,
                   [&](const v1::ListSampleKeysResponse& page) {
                     for (int i = 0; i < page.sample_keys_size(); ++i) {
                       const bool known = i < page.input_digests_size();
                       visit(page.sample_keys(i), known ? page.input_digests(i) : "");
                     }
                   });
}

absl::Status RunClient::Records(const v1::StreamRecordsRequest& request, const CallOptions& options,
                                const Visit<v1::StoredRecord>& visit) const {
  return CallStream(&Stub::StreamRecords, request, options,
                    [&](const v1::StreamRecordsResponse& response) {
                      for (const v1::StoredRecord& record : response.records()) {
                        if (absl::Status status = visit(record); !status.ok()) return status;
                      }
                      return absl::OkStatus();
                    });
}

absl::Status RunClient::Summarize(const v1::SummarizeRunsRequest& request,
                                  const CallOptions& options,
                                  const Visit<v1::SummarizeRunsResponse>& visit) const {
  return CallStream(&Stub::SummarizeRuns, request, options, visit);
}

absl::Status RunClient::Studies(std::string_view name, const CallOptions& options,
                                const Visit<v1::ListStudiesResponse>& visit) const {
  v1::ListStudiesRequest request;
  request.set_name(RunName(name));
  return CallStream(&Stub::ListStudies, request, options, visit);
}

absl::Status RunClient::BackUp(const CallOptions& options,
                               const Visit<v1::BackUpStoreResponse>& visit) const {
  return CallStream(&Stub::BackUpStore, {}, options, visit);
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
