// HttpApi: the functions that the HTTP server calls for the responses of the API.
//
// Thread-safety: all functions may be called from several threads at once.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/status/status.h>

#include "server/access/principal.h"
#include "server/base/trace_context.h"

namespace sinkd {

// The path for analyses, and the content type of their requests and responses.
inline constexpr std::string_view kAnalyzePath = "/api/v1/analyze";
inline constexpr std::string_view kJsonLinesType = "application/jsonl";

// One GET or POST.
struct HttpQuery {
  std::vector<std::string> path;  // segments, decoded: {"api", "v1", "runs"}
  std::vector<std::pair<std::string, std::string>> parameters;  // decoded, in the order sent
  std::string body;                                             // of a POST
  std::string caller;  // the caller's name, or else its host
  std::string peer_host;
  std::shared_ptr<const Principal> principal = nullptr;  // null: callers are not authenticated
  std::string request_id;                                // for the log
  std::optional<TraceContext> trace = std::nullopt;      // the caller's, for the log
};

struct HttpAnswer {
  int status = 200;
  std::string content_type;
  std::string body;
  std::string_view fixed_body = {};  // used instead of `body`; static storage
  std::vector<std::pair<std::string, std::string>>
      headers;  // in addition to those of every response
};

struct HttpApi {
  // May take long; returns soon after `stop` is set because the client has disconnected.
  std::function<HttpAnswer(const HttpQuery& query, const std::stop_token& stop)> answer;
  // The same for a POST to kAnalyzePath. Null: the port is read-only.
  std::function<HttpAnswer(const HttpQuery& query, const std::stop_token& stop)> analyze = nullptr;
  // An error in the format of this API.
  std::function<HttpAnswer(const absl::Status& error)> refuse;
};

}  // namespace sinkd
