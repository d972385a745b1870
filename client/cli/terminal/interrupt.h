// InterruptWatcher: turns the first SIGINT or SIGTERM into a call, the second into the usual end.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "client/cli/input/byte_stream.h"

namespace sinkd::cli {

// At most one at a time. Thread-safety: interrupted() may be called from any thread.
class InterruptWatcher {
 public:
  // `on_interrupt` runs once, on a thread of the watcher. SIGPIPE is ignored from here on, so that
  // writing to a closed pipe is an error and not the end.
  explicit InterruptWatcher(std::function<void()> on_interrupt);
  ~InterruptWatcher();
  InterruptWatcher(const InterruptWatcher&) = delete;
  InterruptWatcher& operator=(const InterruptWatcher&) = delete;

  bool interrupted() const { return interrupted_; }

 private:
  void Run();

  std::function<void()> on_interrupt_;
  StopSignal done_;
  std::atomic<bool> interrupted_ = false;
  std::thread thread_;
};

}  // namespace sinkd::cli
