// The head of an HTTP request, as it comes from the network, and what of it goes into an answer's.
#include <string>
#include <string_view>

#include "server/base/request_id.h"
#include "server/http/http_head.h"
#include "tests/fuzz/require.h"

using sinkd::fuzz::Require;

namespace {

void RequireOneLine(std::string_view text) {
  Require(text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos,
          "more than a line", text);
}

size_t Lines(std::string_view text) {
  size_t lines = 0;
  for (const char c : text) lines += c == '\n' ? 1 : 0;
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto head = sinkd::ParseHead(bytes);
  if (!head.ok()) {
    sinkd::fuzz::RequireToldError(head.status());
    return 0;
  }
  Require(bytes.size() <= sinkd::kMaxHeadBytes + 4 && head->fields.size() <= sinkd::kMaxHeadFields,
          "a head over its bounds");
  Require(!head->method.empty() && (head->target.starts_with('/') || head->target == "*"),
          "no request line", head->target);
  RequireOneLine(head->method);
  RequireOneLine(head->target);
  for (const auto& [name, value] : head->fields) {
    Require(!name.empty() && name.find_first_of(" \t:ABCXYZ") == std::string::npos, "no name",
            name);
    RequireOneLine(value);
  }
  Require(head->All("host").size() <= 1 && head->All("content-length").size() <= 1 &&
              head->All("transfer-encoding").size() <= 1,
          "a header twice that decides");
  Require(head->All("content-length").empty() || head->All("transfer-encoding").empty(),
          "two framings");
  // What a client chose of an answer's head: a status line, three headers, the empty line.
  const std::string answer = sinkd::FormatHead(
      {.headers = {{"X-Request-Id", sinkd::RequestIdOf(head->Only("x-request-id"))},
                   {"Origin", std::string(head->Only("origin"))},
                   {"Content-Length", "0"}}},
      /*keep_alive=*/true);
  Require(Lines(answer) == 5 && answer.ends_with("\r\n\r\n"), "a line more in the answer", answer);
  return 0;
}
