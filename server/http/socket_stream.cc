#include "server/http/socket_stream.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace sinkd {
namespace {

using std::chrono::milliseconds;

constexpr std::chrono::seconds kRequestTime{5};
constexpr std::chrono::seconds kAnswerTime{30};
constexpr milliseconds kLeaveTime{200};
constexpr size_t kLeaveBytes = 1 << 20;

void Tell(const sockaddr_storage& address, std::string& ip, int& port) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &four.sin_addr, text.data(), text.size());
    port = ntohs(four.sin_port);
  } else if (address.ss_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
    inet_ntop(AF_INET6, &six.sin6_addr, text.data(), text.size());
    port = ntohs(six.sin6_port);
  }
  ip = text.data();
}

}  // namespace

SocketStream::SocketStream(int socket) : socket_(socket), read_end_(Clock::now() + kRequestTime) {}

SocketStream::~SocketStream() {
  shutdown(socket_, SHUT_WR);
  const Clock::time_point end = Clock::now() + kLeaveTime;
  size_t dropped = 0;
  ssize_t got = 1;
  while (got > 0 && dropped < kLeaveBytes) {
    got = Receive(buffer_.data(), buffer_.size(), end);
    if (got > 0) dropped += static_cast<size_t>(got);
  }
  close(socket_);
}

bool SocketStream::WaitFor(int events, Clock::time_point end) const {
  while (true) {
    const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
    if (left <= milliseconds::zero()) return false;
    pollfd polled{socket_, static_cast<short>(events), 0};
    const int result = poll(&polled, 1, static_cast<int>(left.count()));
    if (result < 0 && errno == EINTR) continue;
    return result > 0;
  }
}

bool SocketStream::is_readable() const {
  return begin_ < end_ || WaitFor(POLLIN, read_end_);
}

bool SocketStream::is_writable() const {
  return WaitFor(POLLOUT, std::min(write_end_, Clock::now() + kAnswerTime));
}

ssize_t SocketStream::Receive(char* ptr, size_t size, Clock::time_point end) const {
  if (!WaitFor(POLLIN, end)) return -1;
  ssize_t got = 0;
  do {
    got = recv(socket_, ptr, size, 0);
  } while (got < 0 && errno == EINTR);
  return got;
}

ssize_t SocketStream::read(char* ptr, size_t size) {
  if (begin_ == end_) {
    const ssize_t got = Receive(buffer_.data(), buffer_.size(), read_end_);
    if (got <= 0) return got;
    begin_ = 0;
    end_ = static_cast<size_t>(got);
  }
  const size_t taken = std::min(size, end_ - begin_);
  std::memcpy(ptr, buffer_.data() + begin_, taken);
  begin_ += taken;
  return static_cast<ssize_t>(taken);
}

ssize_t SocketStream::write(const char* ptr, size_t size) {
  if (write_end_ == Clock::time_point::max()) write_end_ = Clock::now() + kAnswerTime;
  if (!WaitFor(POLLOUT, write_end_)) return -1;
  ssize_t sent = 0;
  do {
    // Without waiting: a whole answer into a slow client's socket would take as long as it likes.
    sent = send(socket_, ptr, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && (errno == EINTR || (errno == EAGAIN && WaitFor(POLLOUT, write_end_))));
  return sent;
}

void SocketStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getpeername(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0) {
    Tell(address, ip, port);
  }
}

void SocketStream::get_local_ip_and_port(std::string& ip, int& port) const {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0) {
    Tell(address, ip, port);
  }
}

}  // namespace sinkd
