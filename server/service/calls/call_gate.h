// CallGate: authorizes every call of every service before its handler begins.
//
// It is an interceptor, so that no service can be registered without it. The handler of a
// CallContext reads the verdict (CallRecord does) and ends a refused call with details. Refused
// calls of other handlers, such as gRPC's own services, are cancelled with the same code.
//
// Ownership: borrows its arguments, which must outlive the server.
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

// The context of every call of the callback API. Valid after the gate has run.
class CallContext final : public grpc::CallbackServerContext {
 public:
  // OK, or why the call is refused.
  absl::Status verdict = absl::PermissionDeniedError("the call was not judged");
  std::shared_ptr<const Principal> principal;  // null when refused
  Peer peer;                                   // the client
};

// The gate's verdict in `context`; a refusal if it is not a CallContext.
absl::Status VerdictOf(const grpc::CallbackServerContext& context);
// Null if refused.
std::shared_ptr<const Principal> PrincipalOf(const grpc::CallbackServerContext& context);

// The caller as authenticated by the gate.
const Peer& PeerOf(const grpc::CallbackServerContext& context);

// Finds the client behind gRPC's name of a peer; null if it has disconnected.
using FindPeer = std::function<std::shared_ptr<const Peer>(std::string_view grpc_peer)>;

// `local` holds the callers of the in-process channel.
void AddCallGate(AccessControl& access, FindPeer find_peer, const LocalCallers& local,
                 Metrics& metrics, grpc::ServerBuilder& builder);

}  // namespace sinkd
