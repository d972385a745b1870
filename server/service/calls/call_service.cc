#include "server/service/calls/call_service.h"

#include <grpcpp/generic/async_generic_service.h>  // and with it CallbackBidiHandler
#include <grpcpp/impl/rpc_method.h>

namespace sinkd {

void CallService::AddMethod(
    const char* path, std::function<CallReactor*(grpc::CallbackServerContext* context)> begin) {
  using grpc::internal::CallbackBidiHandler;
  using grpc::internal::RpcMethod;
  grpc::Service::AddMethod(
      new grpc::internal::RpcServiceMethod(path, RpcMethod::BIDI_STREAMING, nullptr));
  MarkMethodRawCallback(
      methods_++, new CallbackBidiHandler<grpc::ByteBuffer, grpc::ByteBuffer>(std::move(begin)));
}

}  // namespace sinkd
