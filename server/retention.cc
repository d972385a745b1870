#include "server/retention.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "server/telemetry/log.h"

namespace sinkd {
namespace {

constexpr std::chrono::hours kPause{1};

void Prune(RunStore& store, const PrunePolicy& policy) {
  const absl::StatusOr<Pruned> pruned = store.Prune(policy);
  if (!pruned.ok()) {
    const std::string error(pruned.status().message());
    Log(LogLevel::kWarning, "old runs could not be removed", {{"error", error}});
  } else if (!pruned->run_ids.empty()) {
    Log(LogLevel::kInfo, "old runs removed",
        {{"runs", pruned->run_ids.size()},
         {"bytes", pruned->bytes},
         {"bytes_left", pruned->bytes_left}});
  }
}

}  // namespace

Retention::Retention(RunStore& store, const PrunePolicy& policy) : store_(store), policy_(policy) {
  if (!policy.max_age && !policy.max_bytes) return;
  thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
}

void Retention::Run(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  while (!stop.stop_requested()) {
    Prune(store_, policy_);
    std::unique_lock lock(mutex);
    wake.wait_for(lock, stop, kPause, [] { return false; });
  }
}

}  // namespace sinkd
