#include "server/http/http_head.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <sstream>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/write.hpp>

#include "server/base/status.h"

namespace sinkd {
namespace {

namespace http = boost::beast::http;

constexpr size_t kMaxLengthDigits = 18;  // of a number that fits into 64 bits
constexpr std::string_view kLineEnds("\r\n\0", 3);

absl::Status Malformed(std::string_view what) {
  return InvalidArgument(
      "the request is not valid HTTP/1",
      {.reason = "REQUEST_MALFORMED",
       .subject = "request",
       .value = std::string(what),
       .fix = "send HTTP/1.1 with one Host header and the length of the body, or "
              "Transfer-Encoding: chunked, once"});
}

std::string_view View(const auto& text) {
  return {text.data(), text.size()};
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  return lower;
}

bool IsLength(std::string_view text) {
  return !text.empty() && text.size() <= kMaxLengthDigits &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Sets has_body and body_bytes.
absl::Status ReadFraming(unsigned version, HttpHead& head) {
  const std::vector<std::string_view> codings = head.All("transfer-encoding");
  const std::vector<std::string_view> lengths = head.All("content-length");
  if (!codings.empty()) {
    if (version < 11 || codings.size() > 1 || Lower(codings[0]) != "chunked") {
      return Malformed("Transfer-Encoding");
    }
    if (!lengths.empty()) return Malformed("Content-Length and Transfer-Encoding");
  }
  if (lengths.size() > 1 || (lengths.size() == 1 && !IsLength(lengths[0]))) {
    return Malformed("Content-Length");
  }
  if (!lengths.empty()) head.body_bytes = std::stoll(std::string(lengths[0]));
  head.has_body = !codings.empty() || head.body_bytes.value_or(0) > 0;
  return absl::OkStatus();
}

}  // namespace

std::string_view HttpHead::path() const {
  return std::string_view(target).substr(0, target.find_first_of("?#"));
}

std::vector<std::string_view> HttpHead::All(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const auto& [each, value] : fields) {
    if (each == name) values.emplace_back(value);
  }
  return values;
}

std::string_view HttpHead::Only(std::string_view name) const {
  const std::vector<std::string_view> values = All(name);
  return values.size() == 1 ? values[0] : std::string_view();
}

absl::StatusOr<HttpHead> ParseHead(std::string_view bytes) {
  http::request_parser<http::empty_body> parser;
  parser.header_limit(kMaxHeadBytes);
  parser.body_limit(std::numeric_limits<uint64_t>::max());  // no body is read
  boost::system::error_code error;
  parser.put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  if (error || !parser.is_header_done()) return Malformed(error.message());
  if (bytes.find("\r\n ") != std::string_view::npos ||
      bytes.find("\r\n\t") != std::string_view::npos) {
    return Malformed("a header of several lines");
  }
  const auto& parsed = parser.get();
  HttpHead head{.method = std::string(View(parsed.method_string())),
                .target = std::string(View(parsed.target())),
                .keeps_alive = parsed.keep_alive()};
  for (const auto& field : parsed) {
    if (head.fields.size() == kMaxHeadFields) return HeadTooLarge(bytes);
    head.fields.emplace_back(Lower(View(field.name_string())), View(field.value()));
  }
  if (parsed.version() != 10 && parsed.version() != 11) return Malformed("version");
  const size_t hosts = head.All("host").size();
  if (hosts > 1 || (hosts == 0 && parsed.version() == 11)) return Malformed("Host");
  if (!head.target.starts_with('/') && head.target != "*") return Malformed("target");
  SINKD_RETURN_IF_ERROR(ReadFraming(parsed.version(), head));
  return head;
}

absl::Status HeadTooLarge(std::string_view bytes) {
  const bool in_headers = bytes.find("\r\n") != std::string_view::npos;
  return InvalidArgument(
      in_headers ? "the headers of the request are too large" : "the address is too long",
      {.reason = in_headers ? "HEADERS_TOO_LARGE" : "ADDRESS_TOO_LONG",
       .subject = "request",
       .fix = "send at most 100 headers, and at most 8 KiB of address and headers together"});
}

std::string FormatHead(const HttpAnswer& answer, bool keep_alive) {
  http::response<http::empty_body> response;
  response.version(11);
  response.result(static_cast<unsigned>(answer.status));
  response.keep_alive(keep_alive);
  for (const auto& [name, value] : answer.headers) {
    if (value.find_first_of(kLineEnds) == std::string::npos) response.insert(name, value);
  }
  std::ostringstream text;
  text << response.base();
  return std::move(text).str();
}

}  // namespace sinkd
