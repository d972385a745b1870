// The settings of TLS and tokens: what they must say together, and where the ports may then listen.
//
// Thread-safety: pure. Errors: as config_values.h.
#pragma once

#include <absl/status/status.h>

#include "server/config/config.h"

namespace sinkd {

// Other machines may reach a port only where it speaks TLS and asks who calls, or where
// --insecure-listen says so by name.
absl::Status CheckAccess(const Config& config);

}  // namespace sinkd
