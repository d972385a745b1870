// sinkd: serves language models over gRPC and streams analyses of their attention sinks.
//
// Exit codes: 0 stopped by a signal and drained; 1 could not serve, or a device stayed stuck; 2 bad
// configuration; 128 + signal at the second signal.
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>

#include "server/config/config.h"
#include "server/daemon.h"
#include "server/engine/device_fault.h"
#include "server/engine/model.h"
#include "server/library_logs.h"
#include "server/signal_watch.h"
#include "server/telemetry/log.h"
#include "server/tokenizer/tokenizer.h"

namespace {

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;
constexpr const char* kSpins = "3000";  // about a tenth of a millisecond

// glibc gives each of gRPC's many threads a separate heap, which keeps the memory of its busiest
// moment.
void LimitArenas() {
#ifdef M_ARENA_MAX
  mallopt(M_ARENA_MAX, 2);
#endif
}

// A connection needs up to three descriptors. The usual soft limit exists for programs that call
// select, which sinkd does not.
void RaiseFileLimit() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);  // if this fails, fewer connections fit
}

// Threads of a pass wait for each other a thousand times a second. libgomp lets them spin for
// milliseconds, in which a busy neighbour has the core that the awaited one needs; it reads how
// long when it is loaded, before main. So the program starts itself once more, unless the
// environment says how to wait. Most waits are shorter than a tenth of a millisecond: sleeping at
// once would cost a third of a pass over 500 tokens.
void WaitBriefly(char** argv) {
  if (std::getenv("GOMP_SPINCOUNT") != nullptr || std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return;
  setenv("GOMP_SPINCOUNT", kSpins, /*overwrite=*/1);
  execv(program.c_str(), argv);  // where it fails, threads spin
}

int Serve(const sinkd::Config& config) {
  sinkd::ConfigureLog(config.log_format, config.log_level);
  sinkd::RouteLibraryLogs();
  sinkd::Daemon daemon(config, SINKD_VERSION);
  sinkd::SignalWatch signals(
      [&daemon](int signal) {
        daemon.RequestStop(signal == SIGINT ? "signal SIGINT" : "signal SIGTERM");
      },
      [&daemon] { daemon.ReloadSoon(); });
  const absl::Status chosen = sinkd::ChooseFloat32Products(config.float32_products);
  if (!chosen.ok()) {
    std::cerr << "sinkd: " << chosen.message() << "\n";
    return kExitUsage;
  }
  sinkd::ChooseAttention(config.attention);
  sinkd::SetComputeThreads(config.threads);
  const sinkd::CpuArithmetic arithmetic = sinkd::ArithmeticOfCpu();
  sinkd::Log(sinkd::LogLevel::kInfo, "computing",
             {{"threads", config.threads},
              {"float32_products_by", arithmetic.float32_products},
              {"bfloat16_products_in", arithmetic.bfloat16_products},
              {"instructions", arithmetic.instructions}});
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
  RaiseFileLimit();
  absl::StatusOr<sinkd::ConfigOutcome> outcome = sinkd::ParseConfig(argc, argv, SINKD_VERSION);
  if (!outcome.ok()) {
    std::cerr << "sinkd: " << outcome.status().message() << "\n";
    return kExitUsage;
  }
  if (outcome->text) {
    std::cout << *outcome->text;
    return 0;
  }
  WaitBriefly(argv);
  sinkd::StartTemplateProcess();  // where it fails, the first chat tries again, and tells
  return Serve(outcome->config);
}
