// CallService: a gRPC service whose methods are all Calls (call.h). Replaces generated service
// classes: a method is defined by its path and its request type.
//
// Ownership: must outlive the grpc::Server that it is registered with.
// Thread-safety: add all methods before registering it.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include <grpcpp/impl/rpc_service_method.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/support/server_callback.h>

#include "server/service/calls/call.h"
#include "server/service/calls/unary_call.h"

namespace sinkd {

class CallService : public grpc::Service {
 public:
  explicit CallService(const CallResources& calls) : calls_(calls) {}

 protected:
  const CallResources& calls() const { return calls_; }

  // `path` is a literal, "/sinks.v1.RunService/GetRun".
  void AddMethod(const char* path,
                 std::function<CallReactor*(grpc::CallbackServerContext* context)> begin);

  // Adds a method whose calls are of class T, constructed from context, method and `arguments`.
  template <typename T, typename... Arguments>
  void AddCall(const char* path, Arguments... arguments) {
    AddMethod(path, [method = std::string_view(path).substr(1),
                     arguments...](grpc::CallbackServerContext* context) {
      return Call::Begin(std::make_shared<T>(context, method, arguments...));
    });
  }

  // Adds a method with one request and one response. `work` computes the response on a thread of
  // `threads`; it takes (const Request&) or (const Request&, const std::stop_token&) and returns
  // absl::StatusOr<Response>.
  template <typename Request, typename Work>
  void AddUnary(const char* path, Executor& threads, Work work) {
    AddCall<UnaryCall>(path, calls_, &threads, UnaryWorkOf<Request>(std::move(work)));
  }

 private:
  const CallResources calls_;
  int methods_ = 0;
};

}  // namespace sinkd
