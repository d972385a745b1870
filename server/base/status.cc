#include "server/base/status.h"

#include <absl/strings/cord.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include "server/base/utf8.h"

namespace sinkd {
namespace {

constexpr char kPayloadUrl[] = "type.sinkd/ErrorDetail";
constexpr char kSeparator = '\x1f';

// As a part of the payload: UTF-8 without separators.
std::string PartOf(std::string_view field) {
  std::string text = RepairUtf8(field);
  for (char& c : text) {
    if (c == kSeparator) c = ' ';
  }
  return text;
}

}  // namespace

absl::Status MakeError(absl::StatusCode code, std::string_view what, ErrorDetail detail) {
  std::string message(what);
  if (!detail.value.empty()) absl::StrAppend(&message, " (got ", Shorten(detail.value), ")");
  if (!detail.fix.empty()) absl::StrAppend(&message, "; ", detail.fix);
  return WithDetail({code, RepairUtf8(message)}, detail);
}

absl::Status WithDetail(absl::Status status, const ErrorDetail& detail) {
  const std::string retry =
      detail.retry_after ? absl::StrCat(detail.retry_after->count()) : std::string();
  status.SetPayload(kPayloadUrl, absl::Cord(absl::StrJoin(
                                     {PartOf(detail.reason), PartOf(detail.subject),
                                      PartOf(Shorten(detail.value)), PartOf(detail.fix), retry},
                                     std::string(1, kSeparator))));
  return status;
}

absl::Status InvalidArgument(std::string_view what, ErrorDetail detail) {
  return MakeError(absl::StatusCode::kInvalidArgument, what, std::move(detail));
}
absl::Status NotFound(std::string_view what, ErrorDetail detail) {
  return MakeError(absl::StatusCode::kNotFound, what, std::move(detail));
}
absl::Status FailedPrecondition(std::string_view what, ErrorDetail detail) {
  return MakeError(absl::StatusCode::kFailedPrecondition, what, std::move(detail));
}
absl::Status ResourceExhausted(std::string_view what, ErrorDetail detail) {
  return MakeError(absl::StatusCode::kResourceExhausted, what, std::move(detail));
}
absl::Status Unavailable(std::string_view what, ErrorDetail detail) {
  return MakeError(absl::StatusCode::kUnavailable, what, std::move(detail));
}
absl::Status Cancelled(std::string_view what) {
  return MakeError(absl::StatusCode::kCancelled, what, {.reason = "CANCELLED"});
}
absl::Status Internal(std::string_view what) {
  return MakeError(absl::StatusCode::kInternal, what, {.reason = "INTERNAL"});
}

std::optional<ErrorDetail> GetErrorDetail(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayloadUrl);
  if (!payload) return std::nullopt;
  const std::string flat(*payload);
  const std::vector<std::string> parts = absl::StrSplit(flat, kSeparator);
  if (parts.size() != 5) return std::nullopt;
  ErrorDetail detail{parts[0], parts[1], parts[2], parts[3], std::nullopt};
  int64_t milliseconds = 0;
  if (absl::SimpleAtoi(parts[4], &milliseconds)) {
    detail.retry_after = std::chrono::milliseconds(milliseconds);
  }
  return detail;
}

std::string Shorten(std::string_view text, size_t max_bytes) {
  // Four bytes more, so that a character truncated here is not among those that are kept.
  std::string out = RepairUtf8(text.substr(0, max_bytes + 4));
  const bool cut = out.size() > max_bytes;
  if (cut) {
    while (max_bytes > 0 && (static_cast<unsigned char>(out[max_bytes]) & 0xC0) == 0x80) {
      --max_bytes;
    }
    out.resize(max_bytes);
  }
  for (char& c : out) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = ' ';
  }
  if (cut) out += "...";
  return out;
}

}  // namespace sinkd
