// Caller: who is charged for a call's work.
#pragma once

#include <memory>
#include <string>

#include <grpcpp/server_context.h>

#include "server/access/principal.h"
#include "server/scheduler/fair_order.h"

namespace sinkd {

struct Caller {
  std::string name;   // of its token or certificate, or else its host
  double weight = 1;  // relative to other callers of a device
  std::shared_ptr<const Principal> principal = nullptr;  // null: no quotas
};

// Thread-safety: pure functions.
Caller CallerOf(const grpc::CallbackServerContext& context);
Account AccountOf(const Caller& caller, Lane lane);

}  // namespace sinkd
