// Listener: the sockets that listen on one address.
//
//   127.0.0.1:50051        one IPv4 address
//   [::1]:50051            one IPv6 address; [::] takes IPv4 as well
//   localhost:50051        every address of a name, on one port
//   unix:/run/sinkd/grpc   a socket in the file system, removed at the end unless another server
//                          has put its own there
//
// Port 0 is a free one. A second server on the same port fails, instead of taking half of the
// connections.
//
// Ownership: owns its sockets. Thread-safety: none. Errors: INVALID_ARGUMENT for what is no such
// address; UNAVAILABLE for one that cannot be listened on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "server/net/file_identity.h"
#include "server/net/socket_handle.h"

namespace sinkd {

class Listener {
 public:
  static absl::StatusOr<Listener> Open(const std::string& address);

  ~Listener();
  Listener(Listener&&) = default;
  Listener& operator=(Listener&&) = delete;

  // Listens no more: who connects is refused, who waits is cut off.
  void Close();

  const std::vector<SocketHandle>& sockets() const { return sockets_; }
  int port() const { return port_; }                       // 0 for a socket in the file system
  const std::string& address() const { return address_; }  // as given, but for port 0

 private:
  Listener() = default;
  absl::Status ListenOn(const std::string& host, int port);
  absl::Status ListenAt(const std::string& path);

  std::vector<SocketHandle> sockets_;
  int port_ = 0;
  std::string address_;
  std::string path_;                  // of a socket in the file system
  std::optional<FileIdentity> file_;  // that socket
};

}  // namespace sinkd
