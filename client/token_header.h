// TokenHeader: has every call of a channel carry a token, whichever client makes it.
//
// Thread-safety: called by gRPC from any thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <grpcpp/support/client_interceptor.h>

namespace sinkd::client {

using ChannelInterceptors =
    std::vector<std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>>;

// "authorization: Bearer TOKEN"; none for an empty token.
ChannelInterceptors TokenHeader(const std::string& token);

}  // namespace sinkd::client
