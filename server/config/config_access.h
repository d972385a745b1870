// Checks of the TLS and token settings together, and of the addresses that they allow.
//
// Thread-safety: pure. Errors: as config_values.h.
#pragma once

#include <absl/status/status.h>

#include "server/config/config.h"

namespace sinkd {

// A port may be reachable from other machines only with TLS and authentication, or with
// --insecure-listen.
absl::Status CheckAccess(const Config& config);

}  // namespace sinkd
