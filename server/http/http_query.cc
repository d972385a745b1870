#include "server/http/http_query.h"

#include <charconv>
#include <string>
#include <utility>

#include "server/base/status.h"
#include "server/base/utf8.h"

namespace sinkd {
namespace {

absl::Status Malformed(std::string_view text, std::string_view fix) {
  return InvalidArgument("the address of the request is malformed", {.reason = "ADDRESS_MALFORMED",
                                                                     .subject = "address",
                                                                     .value = Shorten(text),
                                                                     .fix = std::string(fix)});
}

enum class Plus { kItself, kSpace };  // what + stands for: a space, in queries only

absl::StatusOr<std::string> Decode(std::string_view text, Plus plus) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i] == '+' && plus == Plus::kSpace ? ' ' : text[i];
      continue;
    }
    unsigned char byte = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), byte, 16);
    if (error != std::errc() || end != digits.begin() + 2) {
      return Malformed(text, "write two hexadecimal digits after every %, and % itself as %25");
    }
    decoded += static_cast<char>(byte);
    i += 2;
  }
  if (FirstInvalidUtf8(decoded)) return Malformed(text, "encode text as UTF-8");
  return decoded;
}

// Calls `take` with each part of `text` between two `separator`.
template <typename Take>
absl::Status Split(std::string_view text, char separator, const Take& take) {
  while (true) {
    const size_t end = text.find(separator);
    SINKD_RETURN_IF_ERROR(take(text.substr(0, end)));
    if (end == std::string_view::npos) return absl::OkStatus();
    text.remove_prefix(end + 1);
  }
}

}  // namespace

absl::StatusOr<HttpQuery> ParseTarget(std::string_view target) {
  HttpQuery query;
  target = target.substr(0, target.find('#'));
  const size_t mark = target.find('?');
  std::string_view path = target.substr(0, mark);
  if (path.starts_with('/')) path.remove_prefix(1);
  const auto add_segment = [&query](std::string_view part) -> absl::Status {
    SINKD_ASSIGN_OR_RETURN(query.path.emplace_back(), Decode(part, Plus::kItself));
    return absl::OkStatus();
  };
  const auto add_parameter = [&query](std::string_view part) -> absl::Status {
    if (part.empty()) return absl::OkStatus();
    const size_t sign = part.find('=');
    SINKD_ASSIGN_OR_RETURN(std::string name, Decode(part.substr(0, sign), Plus::kSpace));
    const std::string_view rest =
        sign == std::string_view::npos ? std::string_view() : part.substr(sign + 1);
    SINKD_ASSIGN_OR_RETURN(std::string value, Decode(rest, Plus::kSpace));
    query.parameters.emplace_back(std::move(name), std::move(value));
    return absl::OkStatus();
  };
  SINKD_RETURN_IF_ERROR(Split(path, '/', add_segment));
  if (mark != std::string_view::npos) {
    SINKD_RETURN_IF_ERROR(Split(target.substr(mark + 1), '&', add_parameter));
  }
  return query;
}

}  // namespace sinkd
