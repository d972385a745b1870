// SignalWatch: SIGTERM, SIGINT and SIGHUP, taken by a thread of its own. The first one of the
// former two asks the process to stop, the second one ends it at once with 128 + the signal's
// number; SIGHUP has it read its files again.
//
// Make it before any other thread, all of which then leave these signals to it.
// Thread-safety: the functions are called on the watching thread.
#pragma once

#include <csignal>
#include <functional>
#include <thread>

namespace sinkd {

class SignalWatch {
 public:
  SignalWatch(std::function<void(int signal)> on_first, std::function<void()> on_hangup);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  void Watch(const std::stop_token& stop);

  const std::function<void(int signal)> on_first_;
  const std::function<void()> on_hangup_;
  sigset_t signals_;
  std::jthread thread_;
};

}  // namespace sinkd
