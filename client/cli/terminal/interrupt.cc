#include "client/cli/terminal/interrupt.h"

#include <poll.h>
#include <signal.h>

#include <cerrno>
#include <utility>

namespace sinkd::cli {
namespace {

// Never destroyed: a signal may come at any time.
StopSignal& Signalled() {
  static StopSignal* const signal = new StopSignal;
  return *signal;
}

void OnSignal(int) {
  const int saved = errno;
  Signalled().Stop();
  errno = saved;
}

}  // namespace

InterruptWatcher::InterruptWatcher(std::function<void()> on_interrupt)
    : on_interrupt_(std::move(on_interrupt)) {
  Signalled();  // made before a handler can need it
  struct sigaction action {};
  action.sa_handler = OnSignal;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
  thread_ = std::thread([this] { Run(); });
}

InterruptWatcher::~InterruptWatcher() {
  done_.Stop();
  thread_.join();
}

void InterruptWatcher::Run() {
  pollfd wait[] = {{Signalled().descriptor(), POLLIN, 0}, {done_.descriptor(), POLLIN, 0}};
  while (poll(wait, 2, -1) < 0 && errno == EINTR) {
  }
  if (wait[0].revents == 0) return;
  interrupted_ = true;
  on_interrupt_();
}

}  // namespace sinkd::cli
