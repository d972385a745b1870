#include "server/http/hangup_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <vector>

namespace sinkd {

HangupWatch::Guard::Guard(HangupWatch& watch, int socket)
    : watch_(watch), id_(watch.Add(socket, stop_)) {}

HangupWatch::Guard::~Guard() {
  watch_.Remove(id_);
}

HangupWatch::HangupWatch()
    : wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), thread_([this] { Run(); }) {}

HangupWatch::~HangupWatch() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  Wake();
  thread_.join();
  close(wake_);
}

void HangupWatch::StopAll() {
  std::vector<std::stop_source> all;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    for (const auto& [id, watched] : watched_) all.push_back(watched.stop);
  }
  for (std::stop_source& stop : all) stop.request_stop();
}

int64_t HangupWatch::Add(int socket, const std::stop_source& stop) {
  int64_t id = 0;
  bool stopped = false;
  {
    const std::lock_guard lock(mutex_);
    id = next_id_++;
    watched_.emplace(id, Watched{socket, stop});
    stopped = stopped_;
  }
  if (stopped) std::stop_source(stop).request_stop();
  Wake();
  return id;
}

void HangupWatch::Remove(int64_t id) {
  {
    const std::lock_guard lock(mutex_);
    watched_.erase(id);
  }
  Wake();
}

void HangupWatch::Wake() const {
  const uint64_t one = 1;
  (void)!write(wake_, &one, sizeof(one));
}

void HangupWatch::Run() {
  while (true) {
    std::vector<pollfd> polled = {{wake_, POLLIN, 0}};
    std::vector<std::stop_source> stops;  // of all but the first
    {
      const std::lock_guard lock(mutex_);
      if (ending_) return;
      for (const auto& [id, watched] : watched_) {
        if (watched.stop.stop_requested()) continue;
        polled.push_back({watched.socket, POLLRDHUP, 0});
        stops.push_back(watched.stop);
      }
    }
    poll(polled.data(), polled.size(), -1);
    uint64_t count = 0;
    (void)!read(wake_, &count, sizeof(count));
    for (size_t i = 0; i < stops.size(); ++i) {
      if ((polled[i + 1].revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) {
        stops[i].request_stop();
      }
    }
  }
}

}  // namespace sinkd
