// Caller: on whose account a call's work is done.
#pragma once

#include <string>

#include <grpcpp/server_context.h>

namespace sinkd {

struct Caller {
  std::string name;   // of its token or certificate, else its host
  double weight = 1;  // beside other callers on a device
};

// Thread-safety: a pure function.
Caller CallerOf(const grpc::ServerContextBase& context);

}  // namespace sinkd
