// CallGate: judges every call of every service before its handler begins.
//
// An interceptor, so that a service cannot be registered without it; the handler of a CallContext
// reads the verdict there (CallRecord does) and ends a refused call itself, with details. One that
// does not look, or gRPC's own services, which cannot: their call is cancelled with the same code.
//
// Ownership: borrows what it is given, which must outlive the server.
// Thread-safety: called by gRPC from any thread.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <absl/status/status.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_context.h>

#include "server/access/access_control.h"
#include "server/net/peer.h"
#include "server/service/calls/local_callers.h"
#include "server/telemetry/metrics.h"

namespace sinkd {

// The context of every call of the callback API. Read only once the gate is passed.
class CallContext final : public grpc::CallbackServerContext {
 public:
  // OK, or why the call is refused.
  absl::Status verdict = absl::PermissionDeniedError("the call was not judged");
  std::shared_ptr<const Principal> principal;  // null when refused
  Peer peer;                                   // who calls
};

// What the gate left in `context`; refused when it is no CallContext.
absl::Status VerdictOf(const grpc::CallbackServerContext& context);
// Null when refused.
std::shared_ptr<const Principal> PrincipalOf(const grpc::CallbackServerContext& context);

// The caller, as the gate found it.
const Peer& PeerOf(const grpc::CallbackServerContext& context);

// Finds the client that gRPC calls by this name of a peer; null when it has disconnected.
using FindPeer = std::function<std::shared_ptr<const Peer>(std::string_view grpc_peer)>;

// `local` has the callers of the in-process channel.
void AddCallGate(AccessControl& access, FindPeer find_peer, const LocalCallers& local,
                 Metrics& metrics, grpc::ServerBuilder& builder);

}  // namespace sinkd
