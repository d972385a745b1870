// HttpAccess: which names of this server, and which other sites' pages, the page, the API and the
// metrics answer.
//
// A browser sends requests to 127.0.0.1 for any site whose name resolves to it (DNS rebinding), and
// that site's scripts may then read the answers. What such a request cannot hide is the site's name
// in its Host header; so a server that only this machine reaches answers to no names but localhost
// and its own. To addresses it answers always: nobody but itself can be behind one.
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
  std::vector<std::string> hosts;    // else: these, without port, beside localhost and addresses
  std::vector<std::string> origins;  // whose pages may read answers (CORS); "*": every page
};

// Whether a Host header, "localhost:9464", names a host that is answered to.
bool AnswersToHost(const HttpAccess& access, std::string_view host);

// What Access-Control-Allow-Origin is to say to this Origin header; nullopt: nothing.
std::optional<std::string> AllowedOrigin(const HttpAccess& access, std::string_view origin);

// Whether a page of this Origin header may have something done: a page of this server, of an origin
// that is named ("*" names none), or no page at all, which sends none. `host`: the Host header.
bool MayPost(const HttpAccess& access, std::string_view origin, std::string_view host);

}  // namespace sinkd
