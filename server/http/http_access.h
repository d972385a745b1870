// HttpAccess: the host names under which the page, the API and the metrics are served, and the
// other sites whose pages may use them.
//
// A browser sends requests to 127.0.0.1 for any site whose name resolves to that address (DNS
// rebinding), and the site's scripts can then read the responses. Such a request still carries the
// site's name in its Host header. So a server that only this machine can reach accepts no names but
// localhost and its own. It always accepts IP addresses, which cannot be rebound.
//
// Thread-safety: values; the functions are pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinkd {

struct HttpAccess {
  bool any_host = true;              // accept every Host header
  std::vector<std::string> hosts;    // else these, without port, and localhost and addresses
  std::vector<std::string> origins;  // whose pages may read answers (CORS); "*": every page
};

// Whether a Host header, such as "localhost:9464", is accepted.
bool AnswersToHost(const HttpAccess& access, std::string_view host);

// The value of Access-Control-Allow-Origin for this Origin header; nullopt: omit the header.
std::optional<std::string> AllowedOrigin(const HttpAccess& access, std::string_view origin);

// Whether a request with this Origin header may do more than read: from a page of this server or of
// a named origin ("*" does not count), or not from a page, without the header. `host`: the Host
// header.
bool MayPost(const HttpAccess& access, std::string_view origin, std::string_view host);

}  // namespace sinkd
