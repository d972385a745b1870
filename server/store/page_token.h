// PageToken: where the next page of a list begins, as text that clients do not look into.
#pragma once

#include <cstdint>
#include <string>

#include <absl/status/statusor.h>

#include "server/store/run_store.h"

namespace sinkd {

struct PageToken {
  int64_t created_us = 0;  // of the last run of the page before
  int64_t number = 0;      // and its number, since several may be of one time
};

// The token holds a hash of the filter, so that it continues no other list.
std::string WritePageToken(const PageToken& token, const ListOptions& filter);
// Errors: INVALID_ARGUMENT PAGE_TOKEN_INVALID.
absl::StatusOr<PageToken> ReadPageToken(const ListOptions& options);

}  // namespace sinkd
