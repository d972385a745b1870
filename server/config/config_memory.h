// The memory budget setting: reading and printing it.
//
// Thread-safety: pure functions.
// Errors: as config_values.h.
#pragma once

#include <string>

#include <absl/status/status.h>

#include "server/config/config.h"
#include "server/config/config_values.h"

namespace sinkd {

// "cpu=8GiB,cuda:0=60GiB"
absl::Status ApplyMemoryBudget(const Given& given, Config& config);
std::string ShowMemoryBudget(const Config& config);

}  // namespace sinkd
