#include "client/cli/exit_code.h"

#include "client/error_report.h"

namespace sinkd::cli {

ExitCode ExitCodeFor(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kExitOk;
    case absl::StatusCode::kDeadlineExceeded:
      return kExitDeadline;
    case absl::StatusCode::kUnavailable:
      // A server that is draining or loading says so in details; a dead connection has none.
      return client::ReadErrorReport(status).has_details() ? kExitRpcError : kExitUnreachable;
    default:
      return kExitRpcError;
  }
}

std::string DescribeFailure(const absl::Status& status, const std::string& server) {
  const std::string text = client::Describe(status);
  switch (ExitCodeFor(status)) {
    case kExitUnreachable:
      return "cannot reach " + server + ": " +
             client::MakePrintable(std::string(status.message())) +
             "\n  is sinkd running there? --server or SINKD_SERVER names another address";
    case kExitDeadline:
      return text + "\n  --timeout gives it longer";
    default:
      return text;
  }
}

}  // namespace sinkd::cli
