// HttpQuery from the target of a request, "/api/v1/runs?pageSize=10".
//
// Thread-safety: pure function.
// Errors: INVALID_ARGUMENT for an invalid escape, and for bytes that are not UTF-8.
#pragma once

#include <string_view>

#include <absl/status/statusor.h>

#include "server/http/http_api.h"

namespace sinkd {

absl::StatusOr<HttpQuery> ParseTarget(std::string_view target);

}  // namespace sinkd
