// LocalServer: one service on a free port of this machine, for as long as it lives.
#pragma once

#include <memory>
#include <string>

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

namespace sinkd::testing {

class LocalServer {
 public:
  // `service` is borrowed.
  explicit LocalServer(grpc::Service& service) {
    int port = 0;
    server_ = grpc::ServerBuilder()
                  .AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port)
                  .RegisterService(&service)
                  .BuildAndStart();
    address_ = "127.0.0.1:" + std::to_string(port);
  }
  ~LocalServer() { server_->Shutdown(); }

  const std::string& address() const { return address_; }

 private:
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

}  // namespace sinkd::testing
