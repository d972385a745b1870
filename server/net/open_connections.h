// OpenConnections: the connections of one port that are open, in all and by the client's address,
// and whether one more may come.
//
// Whoever a connection was given to closes its socket and tells nobody. So it counts as open for as
// long as its descriptor is still the same socket, which is looked at when a limit is reached, and
// by Count. Thread-safety: none.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "server/net/file_identity.h"

namespace sinkd {

// Why the server closes a connection.
enum class ConnectionRefusal {
  kConnections,  // the port has as many as it may
  kAddress,      // the client's address has
  kDescriptors,  // the process has no descriptor left
  kFrames,       // its client went past a limit of FrameGuard later on
};

struct ConnectionLimits {
  int64_t in_all = 1024;
  int64_t by_address = 256;
};

// What counts as one address: an IPv4 address (mapped into IPv6 or not), the /64 network of an IPv6
// one, "unix".
std::string AddressOf(const sockaddr_storage& peer);

class OpenConnections {
 public:
  explicit OpenConnections(ConnectionLimits limits) : limits_(limits) {}

  // Counts `socket` in, or says why not.
  std::optional<ConnectionRefusal> Admit(int socket, const std::string& address);

  int64_t Count();

 private:
  struct Connection {
    FileIdentity identity;
    std::string address;
  };

  static std::optional<FileIdentity> IdentityOf(int descriptor);
  std::map<int, Connection>::iterator Remove(std::map<int, Connection>::iterator connection);
  std::optional<ConnectionRefusal> Check(const std::string& address) const;

  const ConnectionLimits limits_;
  std::map<int, Connection> open_;  // by descriptor
  std::map<std::string, int64_t> by_address_;
};

}  // namespace sinkd
