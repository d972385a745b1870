// Exit codes of sinkctl. Where several apply, a failure of the stream comes before failed samples,
// and those before bad input.
#pragma once

#include <string>

#include <absl/status/status.h>

namespace sinkd::cli {

struct GlobalOptions;  // flags/options.h

enum ExitCode {
  kExitOk = 0,
  kExitVerdict = 1,        // an audit fails
  kExitUsage = 2,          // the command line or the input is wrong
  kExitUnreachable = 3,    // no server at the address, or the connection broke
  kExitRpcError = 4,       // the server answered with an error, for the call or for some sample
  kExitDeadline = 5,       // --timeout passed
  kExitDoesNotFit = 6,     // a planned model does not fit
  kExitNotEnoughData = 7,  // an audit has not enough data to pass or fail
  kExitInterrupted = 130,
};

// The code for a failed or finished call.
ExitCode ExitCodeFor(const absl::Status& status);

// The failure of a call for people, with a hint where there is one: what is wrong with the server's
// address, TLS or the time.
std::string DescribeFailure(const absl::Status& status, const GlobalOptions& global);

}  // namespace sinkd::cli
