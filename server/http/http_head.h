// HttpHead: the head of an HTTP/1 request, read and checked; FormatHead: that of an answer.
//
// What two parsers could read in two ways is refused: two Host headers, a length beside a transfer
// coding, a coding that is not "chunked", two lengths.
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
  std::optional<int64_t> body_bytes;  // as announced; nullopt: it was not
  bool keeps_alive = false;           // whether the client would send another request

  // Without what follows a '?'.
  std::string_view path() const;
  std::vector<std::string_view> All(std::string_view name) const;
  // The value of a header that was sent once, else nothing: of two neither counts.
  std::string_view Only(std::string_view name) const;
};

// `bytes` end with the empty line. INVALID_ARGUMENT for what is no such head.
absl::StatusOr<HttpHead> ParseHead(std::string_view bytes);

// A head of more than kMaxHeadBytes, which begins with `bytes`: INVALID_ARGUMENT.
absl::Status HeadTooLarge(std::string_view bytes);

// The status line and headers, with the empty line. A header whose value would end its line is left
// out.
std::string FormatHead(const HttpAnswer& answer, bool keep_alive);

}  // namespace sinkd
