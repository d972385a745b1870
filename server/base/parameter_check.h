// Checks of numbers and enum values from a caller.
//
// `field` is the path of the value in the request ("spec.detection.cosine_threshold"), and `limit`
// its allowed range in words ("from 0 to 1").
// Thread-safety: pure functions. Errors: INVALID_ARGUMENT with reason PARAMETER_OUT_OF_RANGE.
#pragma once

#include <cstdint>
#include <string>

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include "server/base/status.h"

namespace sinkd {

// Write `ok` so that it is false for NaN.
template <typename Number>
absl::Status CheckParameter(bool ok, const std::string& field, Number value,
                            const std::string& limit) {
  if (ok) return absl::OkStatus();
  return InvalidArgument(absl::StrCat(field, " must be ", limit),
                         {.reason = "PARAMETER_OUT_OF_RANGE",
                          .subject = field,
                          .value = absl::StrCat(value),
                          .fix = absl::StrCat("choose a value ", limit)});
}

// An enum value that this server does not know; it knows those from `least` to `largest`.
inline absl::Status UnknownEnum(const std::string& field, int value, int least, int largest) {
  return InvalidArgument(absl::StrCat(field, " is not a value that this server knows"),
                         {.reason = "UNKNOWN_ENUM_VALUE",
                          .subject = field,
                          .value = absl::StrCat(value),
                          .fix = absl::StrCat("use a value from ", least, " to ", largest)});
}

}  // namespace sinkd
