// GrpcPort: the port of a grpc::Server, whose connections an AcceptLoop accepts. gRPC's own
// listener stays deaf for good once the process had no file descriptor left, and knows no limits.
//
// Life: listening from Open on, connections wait; accepted from Serve on; Stop before the
// grpc::Server is shut down.
// Thread-safety: none, but that Stop may be called from any thread. Errors: those of Listener and
// AcceptLoop.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include "server/net/accept_loop.h"
#include "server/net/listener.h"

namespace sinkd {

class GrpcPort {
 public:
  // Adds the port to the server that `builder` is to make.
  static absl::StatusOr<GrpcPort> Open(const std::string& address,
                                       std::shared_ptr<grpc::ServerCredentials> credentials,
                                       grpc::ServerBuilder& builder);

  // Once the server has been made.
  absl::Status Serve(PortOptions options);
  void Stop();

  const std::string& address() const { return address_; }
  int port() const { return port_; }

 private:
  GrpcPort() = default;

  std::string address_;
  int port_ = 0;
  std::optional<Listener> listener_;  // until Serve
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::unique_ptr<AcceptLoop> loop_;
};

}  // namespace sinkd
