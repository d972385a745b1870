#include "tests/net/client_socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace sinkd {

SocketHandle ConnectTo(const std::string& host, int port) {
  const addrinfo hints{.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) {
    return SocketHandle();
  }
  SocketHandle made(socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const bool connected = connect(made.get(), found->ai_addr, found->ai_addrlen) == 0;
  freeaddrinfo(found);
  return connected ? std::move(made) : SocketHandle();
}

bool ConnectSocket(const SocketHandle& socket, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

SocketHandle ConnectToPath(const std::string& path) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  path.copy(address.sun_path, path.size());
  SocketHandle made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const bool connected =
      connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  return connected ? std::move(made) : SocketHandle();
}

bool WaitUntilClosed(const SocketHandle& socket) {
  char byte = 0;
  return recv(socket.get(), &byte, 1, 0) <= 0;
}

}  // namespace sinkd
