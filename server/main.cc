// sinkd: holds language models and streams what their attention sinks do.
//
// Exit codes: 0 stopped by a signal and drained; 1 could not serve, or a device stayed stuck; 2 bad
// configuration; 128 + signal at the second signal.
#include <malloc.h>

#include <csignal>
#include <iostream>
#include <string>
#include <utility>

#include "server/config/config.h"
#include "server/daemon.h"
#include "server/engine/device_fault.h"
#include "server/engine/model.h"
#include "server/signal_watch.h"
#include "server/telemetry/log.h"

namespace {

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;

// glibc gives each of gRPC's many threads a heap of its own, none of which gives back what the
// busiest moment took.
void LimitArenas() {
#ifdef M_ARENA_MAX
  mallopt(M_ARENA_MAX, 2);
#endif
}

int Serve(const sinkd::Config& config) {
  sinkd::ConfigureLog(config.log_format, config.log_level);
  sinkd::Daemon daemon(config, SINKD_VERSION);
  sinkd::SignalWatch signals(
      [&daemon](int signal) {
        daemon.RequestStop(signal == SIGINT ? "signal SIGINT" : "signal SIGTERM");
      },
      [&daemon] { daemon.ReloadSoon(); });
  sinkd::SetComputeThreads(config.threads);
  const sinkd::ProductMethods products = sinkd::MeasureProducts();
  sinkd::Log(sinkd::LogLevel::kInfo, "computing",
             {{"threads", config.threads},
              {"float32_products_by", products.float32},
              {"bfloat16_products_in", products.bfloat16}});
  sinkd::OnDeviceFault([&daemon](const std::string& what) {
    daemon.Fail(absl::InternalError("a device answers no more: " + what), "a device failed");
  });
  const absl::Status status = daemon.Run();
  sinkd::OnDeviceFault({});
  if (status.ok()) return 0;
  const std::string error(status.message());
  sinkd::Log(sinkd::LogLevel::kError, "cannot serve", {{"error", error}});
  return kExitFailed;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed connection is an error of that connection alone
  std::signal(SIGXFSZ, SIG_IGN);  // so is a file that may not grow
  LimitArenas();
  absl::StatusOr<sinkd::ConfigOutcome> outcome = sinkd::ParseConfig(argc, argv, SINKD_VERSION);
  if (!outcome.ok()) {
    std::cerr << "sinkd: " << outcome.status().message() << "\n";
    return kExitUsage;
  }
  if (outcome->text) {
    std::cout << *outcome->text;
    return 0;
  }
  return Serve(outcome->config);
}
