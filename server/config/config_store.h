// The settings of the store: reading, printing and checking them.
//
// Thread-safety: pure, except that DefaultStateDir reads the environment.
// Errors: as config_values.h.
#pragma once

#include <filesystem>
#include <string>

#include <absl/status/status.h>

#include "server/config/config.h"
#include "server/config/config_values.h"

namespace sinkd {

absl::Status ApplyStore(const Given& given, Config& config);

absl::Status ApplyRetainAge(const Given& given, Config& config);
std::string ShowRetainAge(const Config& config);

absl::Status ApplyRetainBytes(const Given& given, Config& config);
std::string ShowRetainBytes(const Config& config);

// Checks the settings together.
absl::Status CheckStore(const Config& config);

// Empty if the environment does not determine it.
std::filesystem::path DefaultStateDir(const Environment& environment);

}  // namespace sinkd
