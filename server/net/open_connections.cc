#include "server/net/open_connections.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/stat.h>

#include <array>
#include <cstring>

namespace sinkd {

std::string AddressOf(const sockaddr_storage& peer) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (peer.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(peer);
    return inet_ntop(AF_INET, &four.sin_addr, text.data(), text.size());
  }
  if (peer.ss_family != AF_INET6) return "unix";
  in6_addr six = reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&six)) {
    return inet_ntop(AF_INET, &six.s6_addr[12], text.data(), text.size());
  }
  std::memset(&six.s6_addr[8], 0, 8);
  return std::string(inet_ntop(AF_INET6, &six, text.data(), text.size())) + "/64";
}

std::optional<FileIdentity> OpenConnections::IdentityOf(int descriptor) {
  struct stat file {};
  if (fstat(descriptor, &file) != 0) return std::nullopt;
  return FileIdentity{file.st_dev, file.st_ino};
}

std::map<int, OpenConnections::Connection>::iterator OpenConnections::Remove(
    std::map<int, Connection>::iterator connection) {
  const auto of_address = by_address_.find(connection->second.address);
  if (--of_address->second == 0) by_address_.erase(of_address);
  return open_.erase(connection);
}

std::optional<ConnectionRefusal> OpenConnections::Check(const std::string& address) const {
  if (static_cast<int64_t>(open_.size()) >= limits_.in_all) return ConnectionRefusal::kConnections;
  const auto found = by_address_.find(address);
  if (found != by_address_.end() && found->second >= limits_.by_address) {
    return ConnectionRefusal::kAddress;
  }
  return std::nullopt;
}

std::optional<ConnectionRefusal> OpenConnections::Admit(int socket, const std::string& address) {
  if (const auto old = open_.find(socket); old != open_.end()) Remove(old);
  std::optional<ConnectionRefusal> refusal = Check(address);
  if (refusal) {
    Count();
    refusal = Check(address);
  }
  const std::optional<FileIdentity> identity = IdentityOf(socket);
  if (refusal || !identity) return refusal;
  open_[socket] = {*identity, address};
  ++by_address_[address];
  return std::nullopt;
}

int64_t OpenConnections::Count() {
  for (auto each = open_.begin(); each != open_.end();) {
    each = IdentityOf(each->first) == each->second.identity ? std::next(each) : Remove(each);
  }
  return static_cast<int64_t>(open_.size());
}

}  // namespace sinkd
