// Watchdog: reports when a device is stuck in a job, and when it continues. A long job is not
// stuck: it beats (base/work_beat.h) before every block.
//
// Ownership: owns a thread, which calls `look` and `changed`; the destructor ends it.
// Thread-safety: construct and destroy it on one thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "server/base/work_beat.h"
#include "server/scheduler/executor.h"

namespace sinkd {

// The executors with threads that made no progress for `limit`. Thread-safety: none.
class StuckExecutors {
 public:
  using Duration = std::chrono::steady_clock::duration;

  struct Change {
    std::string name;  // of the executor
    bool stuck = false;
  };

  explicit StuckExecutors(Duration limit) : limit_(limit) {}

  // `elapsed`: since the previous call. Executors are identified by name.
  std::vector<Change> Look(Duration elapsed, const std::vector<ExecutorSnapshot>& executors);

  int64_t count() const;

 private:
  struct Thread {
    WorkBeat::State seen;
    Duration still{};  // time without progress
  };
  struct Executor {
    std::vector<Thread> threads;
    bool stuck = false;
  };

  bool IsStuck(Duration elapsed, const ExecutorSnapshot& now, Executor& executor) const;

  const Duration limit_;
  std::map<std::string, Executor> executors_;
};

class Watchdog {
 public:
  using Look = std::function<std::vector<ExecutorSnapshot>()>;
  // `stuck`: the number of stuck devices.
  using Changed = std::function<void(const StuckExecutors::Change& change, int64_t stuck)>;

  Watchdog(std::chrono::milliseconds limit, Look look, Changed changed);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Looks immediately, so that a device that continued since the last look is not reported stuck.
  void LookNow();

 private:
  void Run();
  void NoteChanges(std::chrono::steady_clock::duration elapsed);  // with mutex_ held

  const std::chrono::steady_clock::duration interval_;
  const Look look_;
  const Changed changed_;
  StuckExecutors stuck_;
  std::mutex mutex_;
  std::condition_variable ending_;
  bool ended_ = false;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace sinkd
