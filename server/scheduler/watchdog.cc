#include "server/scheduler/watchdog.h"

#include <algorithm>
#include <utility>

namespace sinkd {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLongestInterval{1000};

}  // namespace

bool StuckExecutors::IsStuck(Duration elapsed, const ExecutorSnapshot& now,
                             Executor& executor) const {
  executor.threads.resize(now.beats.size());
  bool stuck = false;
  for (size_t i = 0; i < now.beats.size(); ++i) {
    Thread& thread = executor.threads[i];
    const bool stands_still = now.beats[i].working && now.beats[i] == thread.seen;
    thread = {now.beats[i], stands_still ? thread.still + elapsed : Duration{}};
    stuck |= thread.still >= limit_;
  }
  return stuck;
}

std::vector<StuckExecutors::Change> StuckExecutors::Look(
    Duration elapsed, const std::vector<ExecutorSnapshot>& executors) {
  std::vector<Change> changes;
  for (const ExecutorSnapshot& now : executors) {
    Executor& executor = executors_[now.name];
    const bool stuck = IsStuck(elapsed, now, executor);
    if (stuck != std::exchange(executor.stuck, stuck)) changes.push_back({now.name, stuck});
  }
  return changes;
}

int64_t StuckExecutors::count() const {
  return std::count_if(executors_.begin(), executors_.end(),
                       [](const auto& each) { return each.second.stuck; });
}

Watchdog::Watchdog(std::chrono::milliseconds limit, Look look, Changed changed)
    : interval_(std::min<Clock::duration>(limit / 10, kLongestInterval)),
      look_(std::move(look)),
      changed_(std::move(changed)),
      stuck_(limit),
      thread_([this] { Run(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ending_.notify_all();
  thread_.join();
}

void Watchdog::Run() {
  Clock::time_point last = Clock::now();
  std::unique_lock lock(mutex_);
  while (!ending_.wait_for(lock, interval_, [this] { return ended_; })) {
    const Clock::time_point now = Clock::now();
    // A process that was held still as a whole, as by SIGSTOP, does not count its jobs as stuck.
    const Clock::duration elapsed = std::min(now - std::exchange(last, now), 2 * interval_);
    NoteChanges(elapsed);
  }
}

void Watchdog::LookNow() {
  const std::lock_guard lock(mutex_);
  NoteChanges({});
}

void Watchdog::NoteChanges(Clock::duration elapsed) {
  for (const StuckExecutors::Change& change : stuck_.Look(elapsed, look_())) {
    changed_(change, stuck_.count());
  }
}

}  // namespace sinkd
