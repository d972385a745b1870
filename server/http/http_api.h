// HttpApi: what the HTTP server asks of whoever makes the answers of the API.
//
// Thread-safety: all functions are called from any thread, several at once.
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

// Where analyses are posted to, and the type of what is sent there and comes back.
inline constexpr std::string_view kAnalyzePath = "/api/v1/analyze";
inline constexpr std::string_view kJsonLinesType = "application/jsonl";

// One GET or POST, without anything of HTTP's own.
struct HttpQuery {
  std::vector<std::string> path;  // segments, decoded: {"api", "v1", "runs"}
  std::vector<std::pair<std::string, std::string>> parameters;  // decoded, in the order sent
  std::string body;                                             // of a POST
  std::string caller;                                           // its name, else its host
  std::string peer_host;
  std::shared_ptr<const Principal> principal = nullptr;  // null: nobody was asked who it is
  std::string request_id;                                // for the log
  std::optional<TraceContext> trace = std::nullopt;      // the caller's, for the log
};

struct HttpAnswer {
  int status = 200;
  std::string content_type;
  std::string body;
  std::string_view fixed_body = {};  // in its place: bytes that live as long as the program
  std::vector<std::pair<std::string, std::string>> headers;  // beside those of every answer
};

struct HttpApi {
  // May take long; ends soon once `stop` is set, which is when nobody waits any more.
  std::function<HttpAnswer(const HttpQuery& query, const std::stop_token& stop)> answer;
  // The same for a POST to kAnalyzePath. Null: the port only reads.
  std::function<HttpAnswer(const HttpQuery& query, const std::stop_token& stop)> analyze = nullptr;
  // An error as this API tells errors.
  std::function<HttpAnswer(const absl::Status& error)> refuse;
};

}  // namespace sinkd
