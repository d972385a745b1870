// CallGate: judges every call of every service before its handler begins.
//
// An interceptor, so that a service cannot be registered without it; the handler of a CallContext
// reads the verdict there (CallRecord does) and ends a refused call itself, with details. One that
// does not look, or gRPC's own services, which cannot: their call is cancelled with the same code.
//
// Ownership: borrows what it is given, which must outlive the server.
// Thread-safety: called by gRPC from any thread.
#pragma once

#include <memory>

#include <absl/status/status.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_context.h>

#include "server/access/access_control.h"
#include "server/telemetry/metrics.h"

namespace sinkd {

// The context of every call of the callback API. Read only once the gate is passed.
class CallContext final : public grpc::CallbackServerContext {
 public:
  // OK, or why the call is refused.
  absl::Status verdict = absl::PermissionDeniedError("the call was not judged");
  std::shared_ptr<const Principal> principal;  // null when refused
};

// What the gate left in `context`; refused when it is no CallContext.
absl::Status VerdictOf(const grpc::CallbackServerContext& context);
// Null when refused.
std::shared_ptr<const Principal> PrincipalOf(const grpc::CallbackServerContext& context);

void AddCallGate(AccessControl& access, Metrics& metrics, grpc::ServerBuilder& builder);

}  // namespace sinkd
