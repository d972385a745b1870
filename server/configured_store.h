// ConfiguredStore: the store that the configuration names.
//
// Errors: those of open_store.h; FAILED_PRECONDITION when the file of the URL cannot be read, or
// when there is no state folder.
#pragma once

#include <memory>

#include <absl/status/statusor.h>

#include "server/config/config.h"
#include "server/store/run_store.h"

namespace sinkd {

// Null for `off`. No message and no log line holds a password.
absl::StatusOr<std::unique_ptr<RunStore>> OpenConfiguredStore(const Config& config);

}  // namespace sinkd
