#include "server/net/accept_loop.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "server/base/status.h"
#include "server/telemetry/log.h"

namespace sinkd {
namespace {

// How often it looks which connections are still open, and how long it waits where trying again at
// once would be in vain.
constexpr int kLookMs = 1000;
constexpr int kPauseMs = 50;
// Of one listener, before the others have their turn.
constexpr int kAtOnce = 64;

SocketHandle NewSpare() {
  return SocketHandle(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

const char* NameOf(ConnectionRefusal why) {
  switch (why) {
    case ConnectionRefusal::kConnections:
      return "the port has as many connections as --max-connections allows";
    case ConnectionRefusal::kAddress:
      return "the address has as many connections as --max-connections-per-address allows";
    case ConnectionRefusal::kDescriptors:
    case ConnectionRefusal::kFrames:  // not here
      break;
  }
  return "the process has no file descriptor left, see ulimit -n";
}

}  // namespace

absl::StatusOr<std::unique_ptr<AcceptLoop>> AcceptLoop::Start(Listener listener,
                                                              PortOptions options, Take take) {
  SocketHandle wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  SocketHandle spare = NewSpare();
  if (!wake.valid() || !spare.valid()) {
    return Unavailable("the process has too few file descriptors to listen",
                       {.reason = "NO_DESCRIPTORS",
                        .subject = listener.address(),
                        .fix = "raise the limit of open files, ulimit -n"});
  }
  return std::unique_ptr<AcceptLoop>(new AcceptLoop(
      std::move(listener), std::move(options), std::move(take), std::move(wake), std::move(spare)));
}

AcceptLoop::AcceptLoop(Listener listener, PortOptions options, Take take, SocketHandle wake,
                       SocketHandle spare)
    : listener_(std::move(listener)),
      options_(std::move(options)),
      take_(std::move(take)),
      wake_(std::move(wake)),
      spare_(std::move(spare)),
      connections_(options_.limits),
      thread_([this] { Run(); }) {}

AcceptLoop::~AcceptLoop() {
  Stop();
}

void AcceptLoop::Stop() {
  const std::lock_guard lock(stop_mutex_);
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof(one));
  thread_.join();
  listener_.Close();
}

void AcceptLoop::Run() {
  int64_t told = -1;
  while (true) {
    std::vector<pollfd> polled = {{wake_.get(), POLLIN, 0}};
    if (!paused_) {
      for (const SocketHandle& socket : listener_.sockets()) {
        polled.push_back({socket.get(), POLLIN, 0});
      }
    }
    poll(polled.data(), polled.size(), paused_ ? kPauseMs : kLookMs);
    if (polled[0].revents != 0) return;
    paused_ = false;
    for (size_t i = 1; i < polled.size(); ++i) {
      if (polled[i].revents != 0) AcceptAll(polled[i].fd);
    }
    const int64_t open = connections_.Count();
    if (open != told) options_.open(open);
    told = open;
  }
}

void AcceptLoop::AcceptAll(int listener) {
  for (int i = 0; i < kAtOnce; ++i) {
    if (!AcceptOne(listener)) return;
  }
}

bool AcceptLoop::AcceptOne(int listener) {
  sockaddr_storage peer{};
  socklen_t size = sizeof(peer);
  SocketHandle socket(
      accept4(listener, reinterpret_cast<sockaddr*>(&peer), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!socket.valid()) {
    switch (errno) {
      case EAGAIN:
        return false;
      case EMFILE:
      case ENFILE:
        return CloseOne(listener);
      case ENOBUFS:
      case ENOMEM:
        paused_ = true;
        return false;
      default:  // the connection's own trouble
        return true;
    }
  }
  const std::string address = AddressOf(peer);
  if (const auto refusal = connections_.Admit(socket.get(), address)) {
    NoteRefused(*refusal, address);
    return true;
  }
  const int yes = 1;
  if (peer.ss_family != AF_UNIX) {
    setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  }
  if (take_(listener, socket.get())) {
    socket.Release();
  } else {
    NoteRefused(ConnectionRefusal::kDescriptors, address);
  }
  return true;
}

bool AcceptLoop::HasSpare() {
  if (!spare_.valid()) spare_ = NewSpare();
  return spare_.valid();
}

bool AcceptLoop::CloseOne(int listener) {
  paused_ = !HasSpare();
  if (paused_) return false;
  spare_.Close();
  sockaddr_storage peer{};
  socklen_t size = sizeof(peer);
  SocketHandle socket(accept4(listener, reinterpret_cast<sockaddr*>(&peer), &size, SOCK_CLOEXEC));
  const bool accepted = socket.valid();
  // Counted before it closes, since its client may read the metric as soon as it sees the end.
  if (accepted) NoteRefused(ConnectionRefusal::kDescriptors, AddressOf(peer));
  socket.Close();
  paused_ = !HasSpare();  // another thread may have taken it
  return accepted && !paused_;
}

void AcceptLoop::NoteRefused(ConnectionRefusal why, const std::string& address) {
  options_.refused(why);
  refused_.Note(LogLevel::kWarning, "connections refused",
                {{"port", options_.name}, {"why", NameOf(why)}, {"address", address}});
}

}  // namespace sinkd
