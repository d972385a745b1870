// RunService: the gRPC face of stored runs. Everything waits for the store on threads of its own,
// never on gRPC's.
//
// Ownership: borrows what it is given, all of which must outlive the grpc::Server.
// Thread-safety: called by gRPC from any thread.
#pragma once

#include <memory>
#include <string>

#include <absl/status/statusor.h>

#include "server/scheduler/executor.h"
#include "server/service/calls/call_service.h"
#include "server/service/calls/reply_stream.h"
#include "server/store/run_store.h"
#include "sinks/v1/runs.pb.h"

namespace sinkd {

class RunService final : public CallService {
 public:
  // `store` null: the server has none. `template_date` is that of specs that name none.
  RunService(RunStore* store, const CallResources& calls, const std::string& template_date);

  void Shutdown();  // ends what waits, joins the threads

 private:
  // A method that `work` answers: a function of (RunStore&, const Request&).
  template <typename Request, typename Work>
  void AddQuery(const char* path, Work work);
  template <typename Request>
  void AddStream(const char* path,
                 absl::StatusOr<std::unique_ptr<ReplySource>> (*open)(RunStore& store,
                                                                      const Request& request));
  absl::StatusOr<RunStore*> store() const;

  RunStore* const store_;
  Executor queries_;
  Executor streams_;  // apart, since summaries and imports take long
};

// The page of runs that `request` asks for. Errors: those of DecodeList and RunStore.
absl::StatusOr<sinks::v1::ListRunsResponse> PageOfRuns(RunStore& store,
                                                       const sinks::v1::ListRunsRequest& request);

}  // namespace sinkd
