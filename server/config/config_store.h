// The settings of the store: how they are read, shown and checked.
//
// Thread-safety: pure, but for DefaultStateDir's reading of the environment.
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

// What the settings must say together.
absl::Status CheckStore(const Config& config);

// Empty where the environment tells none.
std::filesystem::path DefaultStateDir(const Environment& environment);

}  // namespace sinkd
