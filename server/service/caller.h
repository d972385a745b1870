// Caller: on whose account a call's work is done.
#pragma once

#include <memory>
#include <string>

#include <grpcpp/server_context.h>

#include "server/access/principal.h"

namespace sinkd {

struct Caller {
  std::string name;   // of its token or certificate, else its host
  double weight = 1;  // beside other callers on a device
  std::shared_ptr<const Principal> principal = nullptr;  // null: nothing of it is limited
};

// Thread-safety: a pure function.
Caller CallerOf(const grpc::ServerContextBase& context);

}  // namespace sinkd
