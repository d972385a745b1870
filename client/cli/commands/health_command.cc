#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "client/cli/commands/call_setup.h"
#include "client/cli/commands/commands.h"
#include "client/service_client.h"
#include "grpc/health/v1/health.grpc.pb.h"

namespace sinkd::cli {
namespace {

using std::chrono::milliseconds;
using Health = ::grpc::health::v1::HealthCheckResponse;
using HealthService = ::grpc::health::v1::Health;

// A probe that hangs is as bad as one that fails.
constexpr milliseconds kProbeTimeout{5000};
constexpr milliseconds kBetweenChecks{200};
// Of one check while waiting, so that a connection that hangs is given up for a new one.
constexpr milliseconds kLongestCheck{5000};

std::string Render(const Health& health, OutputFormat format) {
  const std::string status = Health::ServingStatus_Name(health.status());
  if (format == OutputFormat::kTable) return status + '\n';
  if (format == OutputFormat::kCsv) return "status\r\n" + status + "\r\n";
  return fmt::format("{{\"status\":\"{}\"}}\n", status);
}

// Not retried, because a probe repeats the check itself.
absl::StatusOr<Health> CheckHealth(const std::shared_ptr<grpc::Channel>& channel,
                                   const client::CallOptions& call) {
  return client::ServiceClient<HealthService>(channel, {.attempts = 1})
      .Call(&HealthService::StubInterface::Check, {}, call);
}

// Passes while the server may still come up: it is not there yet, or not ready.
bool WorthWaiting(const absl::StatusOr<Health>& health) {
  if (health.ok()) return health->status() != Health::SERVING;
  return absl::IsUnavailable(health.status()) || absl::IsDeadlineExceeded(health.status());
}

// Checks until the server serves, each time on a new connection: gRPC lets a broken one wait ever
// longer. What was found last; that there was no time for another check only where none was.
absl::StatusOr<Health> WaitUntilServing(const GlobalOptions& global,
                                        const client::CallOptions& call) {
  absl::StatusOr<Health> found = absl::DeadlineExceededError("no answer in time");
  bool told = false;
  while (true) {
    const auto now = std::chrono::system_clock::now();
    client::CallOptions check = call;
    check.deadline = std::min(call.deadline.value_or(now + kLongestCheck), now + kLongestCheck);
    const auto channel = Connect(global);
    if (!channel.ok()) return channel.status();
    absl::StatusOr<Health> health = CheckHealth(*channel, check);
    const bool late = call.deadline && std::chrono::system_clock::now() >= *call.deadline;
    if (!absl::IsDeadlineExceeded(health.status())) found = std::move(health);
    if (!WorthWaiting(found) || late || call.cancellation->cancelled()) return found;
    if (!std::exchange(told, true) && !global.quiet) {
      Say(global.server + " is not ready, waiting");
    }
    std::this_thread::sleep_for(kBetweenChecks);
  }
}

ExitCode RunHealth(const Invocation& invocation) {
  GlobalOptions global = invocation.global;
  const bool wait = invocation.health.wait;
  if (!wait && !global.timeout) global.timeout = kProbeTimeout;
  bool serves = false;
  const ExitCode code =
      RunCalls(global,
               [&](const std::shared_ptr<grpc::Channel>& channel, const client::CallOptions& call,
                   Output& output) -> absl::Status {
                 const absl::StatusOr<Health> health =
                     wait ? WaitUntilServing(global, call) : CheckHealth(channel, call);
                 if (!health.ok()) return health.status();
                 serves = health->status() == Health::SERVING;
                 output.Write(Render(*health, global.output));
                 return absl::OkStatus();
               });
  if (code != kExitOk || serves) return code;
  Say(global.server + " answers and takes no work: it loads models, or stops");
  return kExitRpcError;
}

}  // namespace

void AddHealthCommand(CLI::App& app, Invocation& invocation) {
  CLI::App* health =
      AddCommand(app, invocation, "health", "Whether the server is ready for work", RunHealth);
  health->add_flag("--wait", invocation.health.wait,
                   "Wait until it is, for at most --timeout; default: forever");
  health->footer(
      "Examples:\n  sinkctl health\n  sinkctl health --wait --timeout 5m\n"
      "Exit codes: 0 it serves, 3 it cannot be reached, 4 it loads models or stops, 5 no answer in "
      "time.\nWithout --wait, the default --timeout is 5 s.");
}

}  // namespace sinkd::cli
