#include "client/call_headers.h"

namespace sinkd::client {
namespace {

using grpc::experimental::InterceptionHookPoints;

class Interceptor final : public grpc::experimental::Interceptor {
 public:
  explicit Interceptor(const Headers& headers) : headers_(headers) {}

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_INITIAL_METADATA)) {
      for (const auto& [key, value] : headers_) {
        methods->GetSendInitialMetadata()->emplace(key, value);
      }
    }
    methods->Proceed();
  }

 private:
  const Headers& headers_;  // the factory's, which lives as long as the channel
};

class Factory final : public grpc::experimental::ClientInterceptorFactoryInterface {
 public:
  explicit Factory(Headers headers) : headers_(std::move(headers)) {}

  grpc::experimental::Interceptor* CreateClientInterceptor(
      grpc::experimental::ClientRpcInfo*) override {
    return new Interceptor(headers_);  // gRPC's from now on
  }

 private:
  const Headers headers_;
};

}  // namespace

ChannelInterceptors CallHeaders(Headers headers) {
  ChannelInterceptors interceptors;
  if (!headers.empty()) interceptors.push_back(std::make_unique<Factory>(std::move(headers)));
  return interceptors;
}

}  // namespace sinkd::client
