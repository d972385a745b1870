// Page: the page that sinkd serves at `/` and that `sinkctl report` fills in, one HTML file that
// asks the network for nothing but the JSON API. Sources in source/; Node builds it when sinkd is
// built.
//
// Thread-safety: constants.
#pragma once

#include <string_view>

namespace sinkd {

struct Page {
  std::string_view html;    // UTF-8; empty when sinkd was built without the page
  std::string_view gzip;    // the same, compressed
  std::string_view digest;  // changes with the bytes: an ETag without its quotes
  std::string_view policy;  // the Content-Security-Policy to serve it under
};

// Lives as long as the program.
Page BuiltPage();

// Stands in Page::html once. A report puts its data inside the element: a JSON object
// {"sinkctl", "created", "server", "responses": {path of the API: its answer}}, with every '<'
// written as \u003c.
inline constexpr std::string_view kPageDataSlot =
    R"(<script type="application/json" id="sinkd-data"></script>)";

// What to say where the page would be.
inline constexpr std::string_view kNoPage =
    "This sinkd was built without its page: Node.js 18 or newer, or the page's packages, were "
    "missing.\nRun deploy/setup.sh and build again. The JSON API and the metrics are here all the "
    "same.\n";

}  // namespace sinkd
