#include "server/service/grpc_port.h"

#include <utility>

#include "server/base/status.h"

namespace sinkd {

absl::StatusOr<GrpcPort> GrpcPort::Open(const std::string& address,
                                        std::shared_ptr<grpc::ServerCredentials> credentials,
                                        grpc::ServerBuilder& builder) {
  using Type = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  GrpcPort port;
  SINKD_ASSIGN_OR_RETURN(Listener listener, Listener::Open(address));
  port.address_ = listener.address();
  port.port_ = listener.port();
  port.listener_.emplace(std::move(listener));
  port.acceptor_ =
      builder.experimental().AddExternalConnectionAcceptor(Type::FROM_FD, std::move(credentials));
  return port;
}

absl::Status GrpcPort::Serve(PortOptions options) {
  const auto take = [acceptor = acceptor_.get()](int listener, int socket) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
    connection.listener_fd = listener;
    connection.fd = socket;
    acceptor->HandleNewConnection(&connection);
  };
  SINKD_ASSIGN_OR_RETURN(loop_, AcceptLoop::Start(*std::move(listener_), std::move(options), take));
  return absl::OkStatus();
}

void GrpcPort::Stop() {
  if (loop_) loop_->Stop();
}

}  // namespace sinkd
