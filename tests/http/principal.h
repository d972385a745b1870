// Callers as an HttpServer's `admit` returns them.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "server/access/principal.h"

namespace sinkd::testing {

inline std::shared_ptr<const Principal> NamedPrincipal(std::string name) {
  return std::make_shared<Principal>(std::move(name), Role::kAdmin, Quotas(), /*weight=*/1,
                                     std::make_shared<Usage>(std::chrono::steady_clock::now));
}

}  // namespace sinkd::testing
