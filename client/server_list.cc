#include "client/server_list.h"

#include <netdb.h>

#include <algorithm>
#include <array>
#include <memory>

#include <absl/strings/str_split.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sinkd::client {
namespace {

// host:port texts of one server, by IP version.
struct Addresses {
  std::vector<std::string> v4, v6;
};

Addresses LookUp(const std::string& server) {
  const size_t colon = server.rfind(':');
  std::string host = server.substr(0, colon);
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  Addresses found;
  if (getaddrinfo(host.c_str(), server.c_str() + colon + 1, &hints, &list) != 0) return found;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, &freeaddrinfo);
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
    std::array<char, NI_MAXHOST> name{};
    std::array<char, NI_MAXSERV> port{};
    if (getnameinfo(each->ai_addr, each->ai_addrlen, name.data(), name.size(), port.data(),
                    port.size(), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
      continue;
    }
    if (each->ai_family == AF_INET) {
      found.v4.push_back(fmt::format("{}:{}", name.data(), port.data()));
    } else if (each->ai_family == AF_INET6) {
      found.v6.push_back(fmt::format("[{}]:{}", name.data(), port.data()));
    }
  }
  return found;
}

// Those of all servers, each once; empty when a server has none.
std::vector<std::string> Gather(const std::vector<Addresses>& servers,
                                std::vector<std::string> Addresses::*version) {
  std::vector<std::string> all;
  for (const Addresses& server : servers) {
    if ((server.*version).empty()) return {};
    for (const std::string& each : server.*version) {
      if (std::find(all.begin(), all.end(), each) == all.end()) all.push_back(each);
    }
  }
  return all;
}

}  // namespace

bool HasScheme(std::string_view address) {
  for (std::string_view scheme : {"unix:", "unix-abstract:", "dns:", "ipv4:", "ipv6:"}) {
    if (address.starts_with(scheme)) return true;
  }
  return false;
}

std::vector<std::string> SplitServers(std::string_view servers) {
  if (HasScheme(servers)) return {std::string(servers)};
  return absl::StrSplit(std::string(servers), ',');
}

absl::StatusOr<std::string> TargetOf(const std::vector<std::string>& servers) {
  if (servers.size() == 1) return servers.front();
  std::vector<Addresses> known;
  for (const std::string& server : servers) {
    Addresses found = LookUp(server);
    if (!found.v4.empty() || !found.v6.empty()) known.push_back(std::move(found));
  }
  if (known.empty()) return servers.front();  // gRPC says what it cannot resolve
  if (const auto all = Gather(known, &Addresses::v4); !all.empty()) {
    return fmt::format("ipv4:{}", fmt::join(all, ","));
  }
  if (const auto all = Gather(known, &Addresses::v6); !all.empty()) {
    return fmt::format("ipv6:{}", fmt::join(all, ","));
  }
  return absl::InvalidArgumentError(
      fmt::format("servers \"{}\" share no IP version; give addresses of one, or a DNS name that "
                  "has them all, e.g. dns:///sinkd:50051",
                  fmt::join(servers, ",")));
}

}  // namespace sinkd::client
