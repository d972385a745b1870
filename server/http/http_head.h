// HttpHead: the head of an HTTP/1 request, parsed and checked; FormatHead: the head of a response.
//
// Requests that two parsers could read differently are refused: those with two Host headers, two
// lengths, a length and a transfer coding, or a coding other than "chunked".
//
// Thread-safety: values; the functions are pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/status/statusor.h>

#include "server/http/http_api.h"

namespace sinkd {

inline constexpr size_t kMaxHeadBytes = 8 << 10;
inline constexpr size_t kMaxHeadFields = 100;

struct HttpHead {
  std::string method;                                       // "GET"
  std::string target;                                       // "/api/v1/runs?pageSize=10"
  std::vector<std::pair<std::string, std::string>> fields;  // names in lower case
  bool has_body = false;
  std::optional<int64_t> body_bytes;  // Content-Length; nullopt: absent
  bool keeps_alive = false;           // whether the client may send another request

  // The target without its query.
  std::string_view path() const;
  std::vector<std::string_view> All(std::string_view name) const;
  // The value of a header that was sent exactly once, else empty.
  std::string_view Only(std::string_view name) const;
};

// `bytes` end with the empty line. INVALID_ARGUMENT if they are not a valid head.
absl::StatusOr<HttpHead> ParseHead(std::string_view bytes);

// INVALID_ARGUMENT for a head of more than kMaxHeadBytes that begins with `bytes`.
absl::Status HeadTooLarge(std::string_view bytes);

// The status line, the headers and the empty line. Headers whose value contains a line break are
// omitted.
std::string FormatHead(const HttpAnswer& answer, bool keep_alive);

}  // namespace sinkd
