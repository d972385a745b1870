// The table of all settings, in the order of the help. A new setting is an entry in
// config_settings.cc.
//
// Thread-safety: pure functions over constants.
// Errors: as config_values.h.
#pragma once

#include <span>
#include <string>

#include <absl/status/status.h>

#include "server/config/config.h"
#include "server/config/config_values.h"

namespace sinkd {

// One setting: its flag is --name, its variable SINKD_NAME, its file key name.
struct Setting {
  const char* name;
  const char* type;  // the value's name in the help; empty: a flag without value
  const char* help;
  absl::Status (*apply)(const Given& given, Config& config);
  std::string (*show)(const Config& config);  // as a value in a configuration file
  bool repeatable = false;                    // apply is called for each value
};

std::span<const Setting> Settings();

}  // namespace sinkd
