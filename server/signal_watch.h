// SignalWatch: SIGTERM and SIGINT, taken by a thread of its own. The first one asks the process to
// stop, the second one ends it at once with 128 + the signal's number.
//
// Make it before any other thread, all of which then leave these signals to it.
// Thread-safety: `on_first` is called on the watching thread.
#pragma once

#include <csignal>
#include <functional>
#include <thread>

namespace sinkd {

class SignalWatch {
 public:
  explicit SignalWatch(std::function<void(int signal)> on_first);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  void Watch(const std::stop_token& stop);

  const std::function<void(int signal)> on_first_;
  sigset_t signals_;
  std::jthread thread_;
};

}  // namespace sinkd
