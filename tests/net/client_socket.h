// A client's end of a connection, for tests of who accepts it.
#pragma once

#include <string>

#include "server/net/socket_handle.h"

namespace sinkd {

// Connects to host and port, IPv4 or IPv6 in numbers; invalid when that fails.
SocketHandle ConnectTo(const std::string& host, int port);
// With an IPv4 socket made before, where no descriptor is left to make one.
bool ConnectSocket(const SocketHandle& socket, int port);
SocketHandle ConnectToPath(const std::string& path);

// Waits until the other side has closed; false when bytes came instead.
bool WaitUntilClosed(const SocketHandle& socket);

}  // namespace sinkd
