// HttpAccess: which names of this server, and which other sites' pages, the page and the API
// answer.
//
// A browser sends requests to 127.0.0.1 for any site whose name resolves to it (DNS rebinding), and
// that site's scripts may then read the answers. What such a request cannot hide is the site's name
// in its Host header; so a server that only this machine reaches answers to loopback names only.
//
// Thread-safety: values; the functions are pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinkd {

struct HttpAccess {
  bool any_host = true;              // whatever the Host header says
  std::vector<std::string> hosts;    // else: these, without port, beside loopback names
  std::vector<std::string> origins;  // whose pages may read answers (CORS); "*": every page
};

// Whether a Host header, "localhost:9464", names a host that is answered to.
bool AnswersToHost(const HttpAccess& access, std::string_view host);

// What Access-Control-Allow-Origin is to say to this Origin header; nullopt: nothing.
std::optional<std::string> AllowedOrigin(const HttpAccess& access, std::string_view origin);

}  // namespace sinkd
