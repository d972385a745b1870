// Caller: on whose account a call's work is done.
#pragma once

#include <memory>
#include <string>

#include <grpcpp/server_context.h>

#include "server/access/principal.h"
#include "server/scheduler/fair_order.h"

namespace sinkd {

struct Caller {
  std::string name;   // of its token or certificate, else its host
  double weight = 1;  // beside other callers on a device
  std::shared_ptr<const Principal> principal = nullptr;  // null: nothing of it is limited
};

// Thread-safety: pure functions.
Caller CallerOf(const grpc::CallbackServerContext& context);
Account AccountOf(const Caller& caller, Lane lane);

}  // namespace sinkd
