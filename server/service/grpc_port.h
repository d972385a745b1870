// GrpcPort: the port of a grpc::Server, whose connections an AcceptLoop accepts and a GrpcRelay
// passes on. gRPC's own listener stays deaf for good once the process had no file descriptor left,
// and knows no limits.
//
// Life: listening from Open on, connections wait; accepted from Serve on; Close before the
// grpc::Server is shut down, Stop after it.
// Thread-safety: none, but that Close, Stop and PeerOf may be called from any thread. Errors: those
// of Listener and AcceptLoop.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <grpcpp/server_builder.h>

#include "server/access/tls_identity.h"
#include "server/net/accept_loop.h"
#include "server/net/grpc_relay.h"
#include "server/net/listener.h"

namespace sinkd {

class GrpcPort {
 public:
  // Adds the port to the server that `builder` is to make. `tls` is borrowed; null: plaintext.
  static absl::StatusOr<GrpcPort> Open(const std::string& address, const TlsIdentity* tls,
                                       const FrameLimits& limits, PortOptions options,
                                       grpc::ServerBuilder& builder);

  // Once the server has been made.
  absl::Status Serve();
  // Takes no more connections.
  void Close();
  // Sees to it that clients get what gRPC sent them last.
  void Stop();

  // As GrpcRelay has it.
  std::shared_ptr<const Peer> PeerOf(std::string_view grpc_peer) const {
    return relay_->PeerOf(grpc_peer);
  }

  const std::string& address() const { return address_; }
  int port() const { return port_; }

 private:
  GrpcPort() = default;

  std::string address_;
  int port_ = 0;
  PortOptions options_;
  std::optional<Listener> listener_;  // until Serve
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::unique_ptr<GrpcRelay> relay_;
  std::unique_ptr<AcceptLoop> loop_;
};

}  // namespace sinkd
