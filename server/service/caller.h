// Caller: on whose account a call's work is done.
#pragma once

#include <string>

#include <grpcpp/server_context.h>

namespace sinkd {

struct Caller {
  std::string name;   // the peer's host
  double weight = 1;  // beside other callers on a device
};

// Thread-safety: a pure function.
Caller CallerOf(const grpc::ServerContextBase& context);

}  // namespace sinkd
