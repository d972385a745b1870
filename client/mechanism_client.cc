#include "client/mechanism_client.h"

#include <utility>

namespace sinkd::client {
namespace {

namespace v1 = ::sinks::v1;

// Reads the answers and passes them on.
class Receiver {
 public:
  explicit Receiver(StudyObserver& observer) : observer_(observer) {}

  absl::Status Take(const v1::RunStudyResponse& response) {
    if (reported_) return absl::InternalError("the server sent more after the report");
    if (!started_ && !response.has_started()) {
      return absl::InternalError("the server's first message is not `started`");
    }
    switch (response.message_case()) {
      case v1::RunStudyResponse::kStarted:
        if (std::exchange(started_, true)) {
          return absl::InternalError("the server sent `started` twice");
        }
        return observer_.OnStarted(response.started());
      case v1::RunStudyResponse::kProgress:
        return observer_.OnProgress(response.progress());
      case v1::RunStudyResponse::kSampleError:
        return observer_.OnSampleError(response.sample_error());
      case v1::RunStudyResponse::kReport:
        reported_ = true;
        return observer_.OnReport(response.report());
      case v1::RunStudyResponse::MESSAGE_NOT_SET:
        return absl::OkStatus();  // a kind of message from a newer server
    }
    return absl::OkStatus();
  }

  // What is missing from a stream that the server ended with OK.
  absl::Status Finish() const {
    if (reported_) return absl::OkStatus();
    return absl::InternalError("the server ended the study without a report");
  }

 private:
  StudyObserver& observer_;
  bool started_ = false;
  bool reported_ = false;
};

}  // namespace

absl::Status MechanismClient::RunStudy(const v1::RunStudyRequest& request, StudyObserver& observer,
                                       const CallOptions& options) const {
  Receiver receiver(observer);
  const absl::Status status =
      CallStream(&Stub::RunStudy, request, options,
                 [&](const v1::RunStudyResponse& response) { return receiver.Take(response); });
  return status.ok() ? receiver.Finish() : status;
}

}  // namespace sinkd::client
