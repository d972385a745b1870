// Status: the one error type between modules, with the details that a client needs to act.
//
// Every error of ours carries an ErrorDetail payload; service/calls/status_mapping turns it into
// google.rpc details. Choose the function by who has to act:
//   InvalidArgument     the request is wrong        -> change the named field
//   NotFound            no such resource            -> use another name
//   FailedPrecondition  the resource is not usable  -> repair or load it first
//   ResourceExhausted   the server is full          -> retry later, or ask for less
//   Unavailable         the server is not ready     -> retry later
//   Cancelled           the caller disconnected
//   Internal            a bug in the server
//
// Thread-safety: values; free functions are pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

namespace sinkd {

// What a client needs in addition to the message.
struct ErrorDetail {
  std::string reason;   // UPPER_SNAKE, stable, e.g. "TOKEN_ID_OUT_OF_RANGE"
  std::string subject;  // the field path ("sample.token_ids[3]"), file, or resource ("models/a")
  std::string value;    // the offending value, shortened; empty if there is none
  std::string fix;      // an imperative sentence
  std::optional<std::chrono::milliseconds> retry_after;  // set when retrying can help
};

// The message of the status is `what`, followed by the value and the fix if given. Message and
// detail are always UTF-8: invalid bytes of what they quote are replaced by U+FFFD.
absl::Status MakeError(absl::StatusCode code, std::string_view what, ErrorDetail detail);

// `status` with its message as it is.
absl::Status WithDetail(absl::Status status, const ErrorDetail& detail);

absl::Status InvalidArgument(std::string_view what, ErrorDetail detail);
absl::Status NotFound(std::string_view what, ErrorDetail detail);
absl::Status FailedPrecondition(std::string_view what, ErrorDetail detail);
absl::Status ResourceExhausted(std::string_view what, ErrorDetail detail);
absl::Status Unavailable(std::string_view what, ErrorDetail detail);
absl::Status Cancelled(std::string_view what);
absl::Status Internal(std::string_view what);

// The detail that MakeError added; empty for a status without one.
std::optional<ErrorDetail> GetErrorDetail(const absl::Status& status);

// `text` for messages: truncated to at most `max_bytes` at a UTF-8 boundary, with control
// characters and invalid UTF-8 replaced.
std::string Shorten(std::string_view text, size_t max_bytes = 80);

}  // namespace sinkd

#define SINKD_CONCAT_INNER(a, b) a##b
#define SINKD_CONCAT(a, b) SINKD_CONCAT_INNER(a, b)

// __COUNTER__ makes the names unique, so that a lambda inside the expression can use the macros
// too.
#define SINKD_RETURN_IF_ERROR_INNER(status, expression) \
  do {                                                  \
    absl::Status status = (expression);                 \
    if (!status.ok()) return status;                    \
  } while (false)

#define SINKD_RETURN_IF_ERROR(expression) \
  SINKD_RETURN_IF_ERROR_INNER(SINKD_CONCAT(status_, __COUNTER__), expression)

#define SINKD_ASSIGN_OR_RETURN_INNER(result, target, expression) \
  auto result = (expression);                                    \
  if (!result.ok()) return std::move(result).status();           \
  target = *std::move(result)

#define SINKD_ASSIGN_OR_RETURN(target, expression) \
  SINKD_ASSIGN_OR_RETURN_INNER(SINKD_CONCAT(status_or_, __COUNTER__), target, expression)
