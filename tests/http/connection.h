// A connection to a server's port on this machine, byte by byte.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

namespace sinkd::testing {

// Closed when it goes.
class Connection {
 public:
  explicit Connection(int port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~Connection() { close(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool connected() const { return connected_; }
  void Send(const std::string& text) {
    (void)send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
  }

  // A piece of what comes, for the others to return; false: nothing comes any more.
  bool Receive() {
    char buffer[4096];
    const ssize_t got = recv(socket_, buffer, sizeof(buffer), 0);
    if (got > 0) rest_.append(buffer, static_cast<size_t>(got));
    return got > 0;
  }

  // The head of one answer and, unless it is to HEAD, its body of Content-Length bytes.
  std::string ReadOne(bool has_body = true) {
    size_t end = std::string::npos;
    while ((end = rest_.find("\r\n\r\n")) == std::string::npos && Receive()) {
    }
    if (end == std::string::npos) return {};
    const size_t field = rest_.find("Content-Length: ");
    const size_t body = has_body ? std::strtoul(rest_.c_str() + field + 16, nullptr, 10) : 0;
    while (rest_.size() < end + 4 + body && Receive()) {
    }
    std::string answer = rest_.substr(0, end + 4 + body);
    rest_.erase(0, answer.size());
    return answer;
  }

  // Whether the server has closed it. Drops what has come.
  bool closed() {
    char buffer[4096];
    ssize_t got = 0;
    while ((got = recv(socket_, buffer, sizeof(buffer), MSG_DONTWAIT)) > 0) {
    }
    return got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
  }

  // All bytes until the server closes.
  std::string ReadAll() {
    while (Receive()) {
    }
    return std::move(rest_);
  }

 private:
  int socket_;
  bool connected_ = false;
  std::string rest_;  // received and not handed out
};

}  // namespace sinkd::testing
