#include "server/signal_watch.h"

#include <pthread.h>
#include <unistd.h>

#include <utility>

#include "server/telemetry/log.h"

namespace sinkd {
namespace {

constexpr int kWake = SIGUSR1;  // sent to the watching thread alone, by the destructor

}  // namespace

SignalWatch::SignalWatch(std::function<void(int signal)> on_first, std::function<void()> on_hangup)
    : on_first_(std::move(on_first)), on_hangup_(std::move(on_hangup)) {
  sigemptyset(&signals_);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, kWake}) sigaddset(&signals_, signal);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  thread_ = std::jthread([this](const std::stop_token& stop) { Watch(stop); });
}

SignalWatch::~SignalWatch() {
  thread_.request_stop();
  pthread_kill(thread_.native_handle(), kWake);
}

void SignalWatch::Watch(const std::stop_token& stop) {
  for (bool first = true; !stop.stop_requested();) {
    int signal = 0;
    sigwait(&signals_, &signal);
    if (signal == kWake) continue;
    if (signal == SIGHUP) {
      on_hangup_();
      continue;
    }
    if (!first) {
      Log(LogLevel::kWarning, "second signal, exiting at once", {{"signal", signal}});
      _exit(128 + signal);
    }
    first = false;
    on_first_(signal);
  }
}

}  // namespace sinkd
