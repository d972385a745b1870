// A connection to a server's port on this machine, byte by byte.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

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

  // All bytes until the server closes.
  std::string ReadAll() {
    std::string all;
    char buffer[4096];
    for (ssize_t n = 0; (n = recv(socket_, buffer, sizeof(buffer), 0)) > 0;) {
      all.append(buffer, static_cast<size_t>(n));
    }
    return all;
  }

 private:
  int socket_;
  bool connected_ = false;
};

}  // namespace sinkd::testing
