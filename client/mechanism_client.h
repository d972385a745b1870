// MechanismClient: one study, from its request to its report.
//
//   class Printer : public StudyObserver { ... };  // told of every answer as it comes
//   absl::Status status = MechanismClient(channel).RunStudy(request, printer, options);
//
// Thread-safety: const methods may be called from any thread.
#pragma once

#include <memory>

#include <absl/status/status.h>
#include <grpcpp/channel.h>

#include "client/call.h"
#include "sinks/v1/mechanism.grpc.pb.h"

namespace sinkd::client {

// Who is told of the answers, in the order they come: started first, the report last. A non-OK
// return cancels the call and is what RunStudy returns.
// Thread-safety: called from the thread that called RunStudy only.
class StudyObserver {
 public:
  virtual ~StudyObserver() = default;
  virtual absl::Status OnStarted(const sinks::v1::StudyStarted&) { return absl::OkStatus(); }
  virtual absl::Status OnProgress(const sinks::v1::StudyProgress&) { return absl::OkStatus(); }
  virtual absl::Status OnSampleError(const sinks::v1::SampleError&) { return absl::OkStatus(); }
  virtual absl::Status OnReport(const sinks::v1::StudyReport&) { return absl::OkStatus(); }
};

class MechanismClient {
 public:
  explicit MechanismClient(std::shared_ptr<grpc::Channel> channel);

  // Runs one study to its end; `observer` is borrowed for the call. OK: the report came, which may
  // be partial; samples that failed were told to the observer. Errors, first that applies: the
  // observer's, the server's (details kept, client/error_report.h), INTERNAL when the server broke
  // the contract of the stream. Studies are not retried.
  absl::Status RunStudy(const sinks::v1::RunStudyRequest& request, StudyObserver& observer,
                        const CallOptions& options) const;

 private:
  std::unique_ptr<sinks::v1::MechanismService::StubInterface> stub_;
};

}  // namespace sinkd::client
