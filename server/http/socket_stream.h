// SocketStream: a client's connection as httplib reads and writes it, with an end to how long a
// client may take: for the whole of its request, and for the whole of its answer.
//
// Ownership: owns the socket and closes it. Thread-safety: none.
#pragma once

#include <httplib.h>

#include <array>
#include <chrono>
#include <string>

namespace sinkd {

class SocketStream final : public httplib::Stream {
 public:
  using Clock = std::chrono::steady_clock;

  explicit SocketStream(int socket);
  // Takes leave in a way that what was written arrives: a socket closed with bytes unread would
  // reset the connection.
  ~SocketStream() override;
  SocketStream(const SocketStream&) = delete;
  SocketStream& operator=(const SocketStream&) = delete;

  bool is_readable() const override;
  bool is_writable() const override;
  ssize_t read(char* ptr, size_t size) override;
  ssize_t write(const char* ptr, size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  int socket() const override { return socket_; }

 private:
  bool WaitFor(int events, Clock::time_point end) const;
  ssize_t Receive(char* ptr, size_t size, Clock::time_point end) const;

  const int socket_;
  const Clock::time_point read_end_;
  Clock::time_point write_end_ = Clock::time_point::max();  // set by the first write
  std::array<char, 4096> buffer_;                           // httplib reads lines byte by byte
  size_t begin_ = 0, end_ = 0;                              // of what is read and not taken
};

}  // namespace sinkd
