// MechanismClient: runs one study, from the request to the report.
//
//   class Printer : public StudyObserver { ... };  // receives every response as it arrives
//   absl::Status status = MechanismClient(channel).RunStudy(request, printer, options);
//
// Thread-safety: const methods may be called from any thread.
#pragma once

#include <absl/status/status.h>

#include "client/service_client.h"
#include "sinks/v1/mechanism.grpc.pb.h"

namespace sinkd::client {

// Receives the responses in the order in which they arrive: started first, the report last. An
// error that it returns cancels the call, and RunStudy returns that error. Thread-safety: called
// only from the thread that called RunStudy.
class StudyObserver {
 public:
  virtual ~StudyObserver() = default;
  virtual absl::Status OnStarted(const sinks::v1::StudyStarted&) { return absl::OkStatus(); }
  virtual absl::Status OnProgress(const sinks::v1::StudyProgress&) { return absl::OkStatus(); }
  virtual absl::Status OnSampleError(const sinks::v1::SampleError&) { return absl::OkStatus(); }
  virtual absl::Status OnReport(const sinks::v1::StudyReport&) { return absl::OkStatus(); }
};

class MechanismClient : public ServiceClient<sinks::v1::MechanismService> {
 public:
  using ServiceClient::ServiceClient;

  // Runs one study to its end; `observer` is borrowed for the call. OK: the observer received the
  // report, which may be partial, and the errors of samples that failed. Errors, the first that
  // applies: the observer's, the server's (with details, client/error_report.h), INTERNAL if the
  // server violated the protocol of the stream. Studies are not retried.
  absl::Status RunStudy(const sinks::v1::RunStudyRequest& request, StudyObserver& observer,
                        const CallOptions& options) const;
};

}  // namespace sinkd::client
