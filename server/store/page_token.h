// PageToken: where the next page of a list begins, as text that is opaque to clients.
#pragma once

#include <cstdint>
#include <string>

#include <absl/status/statusor.h>

#include "server/store/run_store.h"

namespace sinkd {

struct PageToken {
  int64_t created_us = 0;  // of the last run of the previous page
  int64_t number = 0;      // of that run, since several runs may have the same time
};

// The token contains a hash of the filter, so that it is invalid for any other list.
std::string WritePageToken(const PageToken& token, const ListOptions& filter);
// Errors: INVALID_ARGUMENT PAGE_TOKEN_INVALID.
absl::StatusOr<PageToken> ReadPageToken(const ListOptions& options);

}  // namespace sinkd
