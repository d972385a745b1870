#include "server/http/http_access.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>

namespace sinkd {
namespace {

std::string HostName(std::string_view host) {
  const size_t bracket = host.rfind(']');
  const size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || bracket < colon)) {
    host = host.substr(0, colon);
  }
  std::string name(host);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

// With an IPv6 address in brackets.
bool IsAddress(const std::string& name) {
  in6_addr address{};
  if (!name.starts_with('[')) return inet_pton(AF_INET, name.c_str(), &address) == 1;
  return name.ends_with(']') &&
         inet_pton(AF_INET6, name.substr(1, name.size() - 2).c_str(), &address) == 1;
}

bool Holds(const std::vector<std::string>& values, std::string_view value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace

bool AnswersToHost(const HttpAccess& access, std::string_view host) {
  if (access.any_host) return true;
  const std::string name = HostName(host);
  return name == "localhost" || IsAddress(name) ||
         std::any_of(access.hosts.begin(), access.hosts.end(),
                     [&name](const std::string& each) { return HostName(each + ":") == name; });
}

std::optional<std::string> AllowedOrigin(const HttpAccess& access, std::string_view origin) {
  if (origin.empty()) return std::nullopt;
  if (Holds(access.origins, "*")) return "*";
  if (Holds(access.origins, origin)) return std::string(origin);
  return std::nullopt;
}

bool MayPost(const HttpAccess& access, std::string_view origin, std::string_view host) {
  if (origin.empty()) return true;
  const size_t scheme = origin.find("://");
  if (scheme == std::string_view::npos) return false;
  return origin.substr(scheme + 3) == host || Holds(access.origins, origin);
}

}  // namespace sinkd
