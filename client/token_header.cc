#include "client/token_header.h"

#include <utility>

namespace sinkd::client {
namespace {

using grpc::experimental::InterceptionHookPoints;

class Interceptor final : public grpc::experimental::Interceptor {
 public:
  explicit Interceptor(const std::string& value) : value_(value) {}

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_INITIAL_METADATA)) {
      methods->GetSendInitialMetadata()->emplace("authorization", value_);
    }
    methods->Proceed();
  }

 private:
  const std::string& value_;  // the factory's, which lives as long as the channel
};

class Factory final : public grpc::experimental::ClientInterceptorFactoryInterface {
 public:
  explicit Factory(const std::string& token) : value_("Bearer " + token) {}

  grpc::experimental::Interceptor* CreateClientInterceptor(
      grpc::experimental::ClientRpcInfo*) override {
    return new Interceptor(value_);  // gRPC's from now on
  }

 private:
  const std::string value_;
};

}  // namespace

ChannelInterceptors TokenHeader(const std::string& token) {
  ChannelInterceptors interceptors;
  if (!token.empty()) interceptors.push_back(std::make_unique<Factory>(token));
  return interceptors;
}

}  // namespace sinkd::client
