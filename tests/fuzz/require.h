// What a fuzz target holds a parser to beyond not crashing. A breach ends the process, so that
// libFuzzer keeps the input.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <absl/status/status.h>

#include "server/base/status.h"
#include "server/base/utf8.h"

namespace sinkd::fuzz {

inline void Require(bool holds, std::string_view what, std::string_view value = "") {
  if (holds) return;
  std::fprintf(stderr, "breach: %.*s\n%.*s\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(value.size()), value.data());
  std::abort();
}

// An error about input blames the input, says what to do, and can be sent: gRPC takes UTF-8 alone,
// and no more than 8 KiB of metadata.
inline void RequireToldError(const absl::Status& status) {
  const std::string message(status.message());
  const absl::StatusCode code = status.code();
  Require(
      code == absl::StatusCode::kInvalidArgument || code == absl::StatusCode::kFailedPrecondition,
      "an error blames us", status.ToString());
  const auto detail = GetErrorDetail(status);
  Require(detail.has_value() && !detail->reason.empty() && !detail->fix.empty(),
          "an error has no reason or no way out", message);
  for (const std::string& text : {message, detail->subject, detail->value, detail->fix}) {
    Require(!FirstInvalidUtf8(text), "an error holds text that is no UTF-8", text);
    Require(text.size() <= 2048, "an error is longer than 2 KiB", text);
  }
}

}  // namespace sinkd::fuzz
