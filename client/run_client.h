// RunClient: sinks.v1.RunService with retries, paging and error details.
//
// Run names may be given with or without the prefix "runs/".
// Errors: those of the server, with details (client/error_report.h); UNAVAILABLE without details if
// it cannot be reached; DEADLINE_EXCEEDED and CANCELLED according to the options. An error from a
// visitor cancels the call, and the method returns it. Streams are not retried.
// Thread-safety: const methods may be called from any thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <grpcpp/channel.h>

#include "client/call.h"
#include "sinks/v1/runs.grpc.pb.h"

namespace sinkd::client {

// "runs/a" for both "a" and "runs/a".
std::string RunName(std::string_view name);

class RunClient {
 public:
  explicit RunClient(std::shared_ptr<grpc::Channel> channel, RetryPolicy retry = {});

  absl::StatusOr<sinks::v1::Run> Create(const sinks::v1::CreateRunRequest& request,
                                        const CallOptions& options) const;
  absl::StatusOr<sinks::v1::Run> Get(std::string_view name, const CallOptions& options) const;
  // Visits every run that meets the filter, newest first; fetches one page at a time.
  absl::Status List(const sinks::v1::RunFilter& filter, const CallOptions& options,
                    const std::function<void(const sinks::v1::Run&)>& visit) const;
  // Returns ListRunsResponse.did_you_mean, for a filter that no run meets.
  absl::StatusOr<std::string> DidYouMean(const sinks::v1::RunFilter& filter,
                                         const CallOptions& options) const;
  absl::StatusOr<sinks::v1::Run> SetState(std::string_view name, sinks::v1::RunState state,
                                          const CallOptions& options) const;
  absl::Status Delete(std::string_view name, const CallOptions& options) const;

  // Visits every key of the run with its input digest (may be empty); fetches one page at a time.
  absl::Status SampleKeys(std::string_view name, const CallOptions& options,
                          const std::function<void(const std::string& key,
                                                   const std::string& input_digest)>& visit) const;

  absl::Status Records(
      const sinks::v1::StreamRecordsRequest& request, const CallOptions& options,
      const std::function<absl::Status(const sinks::v1::StoredRecord&)>& visit) const;
  absl::Status Summarize(
      const sinks::v1::SummarizeRunsRequest& request, const CallOptions& options,
      const std::function<absl::Status(const sinks::v1::SummarizeRunsResponse&)>& visit) const;
  absl::Status Studies(
      std::string_view name, const CallOptions& options,
      const std::function<absl::Status(const sinks::v1::ListStudiesResponse&)>& visit) const;

  // Sends the messages that `next` returns, the header first, until it returns nullopt. An error
  // from `next` cancels the call, and Import returns it.
  using ImportSource =
      std::function<absl::StatusOr<std::optional<sinks::v1::ImportRecordsRequest>>()>;
  absl::StatusOr<sinks::v1::ImportRecordsResponse> Import(const ImportSource& next,
                                                          const CallOptions& options) const;

  // Visits the pieces of a copy of the server's store. An error from `visit` cancels the call.
  absl::Status BackUp(
      const CallOptions& options,
      const std::function<absl::Status(const sinks::v1::BackUpStoreResponse&)>& visit) const;

 private:
  std::unique_ptr<sinks::v1::RunService::StubInterface> stub_;
  RetryPolicy retry_;
};

}  // namespace sinkd::client
