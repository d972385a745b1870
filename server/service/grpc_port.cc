#include "server/service/grpc_port.h"

#include <utility>

#include <grpcpp/security/server_credentials.h>

#include "server/base/status.h"

namespace sinkd {

absl::StatusOr<GrpcPort> GrpcPort::Open(const std::string& address, const TlsIdentity* tls,
                                        const FrameLimits& limits, PortOptions options,
                                        grpc::ServerBuilder& builder) {
  using Type = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  GrpcPort port;
  SINKD_ASSIGN_OR_RETURN(Listener listener, Listener::Open(address));
  port.address_ = listener.address();
  port.port_ = listener.port();
  port.options_ = std::move(options);
  port.listener_.emplace(std::move(listener));
  // What gRPC gets is plaintext: the relay speaks TLS.
  port.acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
      Type::FROM_FD, grpc::InsecureServerCredentials());
  const auto hand_over = [acceptor = port.acceptor_.get()](int from, int socket) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
    connection.listener_fd = from;
    connection.fd = socket;
    acceptor->HandleNewConnection(&connection);
  };
  port.relay_ = std::make_unique<GrpcRelay>(GrpcRelay::Options{
      .tls = tls,
      .limits = limits,
      .max_connections = port.options_.limits.in_all,
      .hand_over = hand_over,
      .refused = [tell = port.options_.refused] { tell(ConnectionRefusal::kFrames); }});
  return port;
}

absl::Status GrpcPort::Serve() {
  const auto take = [relay = relay_.get()](int listener, int socket) {
    return relay->Take(listener, socket);
  };
  SINKD_ASSIGN_OR_RETURN(loop_,
                         AcceptLoop::Start(*std::move(listener_), std::move(options_), take));
  return absl::OkStatus();
}

void GrpcPort::Close() {
  if (loop_) loop_->Stop();
  relay_->Close();
}

void GrpcPort::Stop() {
  relay_->Stop();
}

}  // namespace sinkd
