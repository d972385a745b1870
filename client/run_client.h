// RunClient: sinks.v1.RunService with retries, paging and error details.
//
// Run names may be given with or without the prefix "runs/". Errors and thread-safety:
// client/service_client.h. An error from a visitor cancels the call, and the method returns it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "client/service_client.h"
#include "sinks/v1/runs.grpc.pb.h"

namespace sinkd::client {

// "runs/a" for both "a" and "runs/a".
inline std::string RunName(std::string_view name) {
  return WithPrefix("runs/", name);
}

class RunClient : public ServiceClient<sinks::v1::RunService> {
 public:
  using ServiceClient::ServiceClient;
  template <typename Message>
  using Visit = std::function<absl::Status(const Message&)>;

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

  absl::Status Records(const sinks::v1::StreamRecordsRequest& request, const CallOptions& options,
                       const Visit<sinks::v1::StoredRecord>& visit) const;
  absl::Status Summarize(const sinks::v1::SummarizeRunsRequest& request, const CallOptions& options,
                         const Visit<sinks::v1::SummarizeRunsResponse>& visit) const;
  absl::Status Studies(std::string_view name, const CallOptions& options,
                       const Visit<sinks::v1::ListStudiesResponse>& visit) const;
  // Visits the pieces of a copy of the server's store.
  absl::Status BackUp(const CallOptions& options,
                      const Visit<sinks::v1::BackUpStoreResponse>& visit) const;

  // Sends the messages that `next` returns, the header first, until it returns nullopt. An error
  // from `next` cancels the call, and Import returns it.
  using ImportSource =
      std::function<absl::StatusOr<std::optional<sinks::v1::ImportRecordsRequest>>()>;
  absl::StatusOr<sinks::v1::ImportRecordsResponse> Import(const ImportSource& next,
                                                          const CallOptions& options) const;
};

}  // namespace sinkd::client
