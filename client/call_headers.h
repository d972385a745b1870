// CallHeaders: adds the same metadata to every call of a channel, whichever client makes it.
//
// Thread-safety: called by gRPC from any thread.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <grpcpp/support/client_interceptor.h>

namespace sinkd::client {

using ChannelInterceptors =
    std::vector<std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>>;

using Headers = std::vector<std::pair<std::string, std::string>>;  // keys in lower case

// Returns no interceptor if there are no headers.
ChannelInterceptors CallHeaders(Headers headers);

}  // namespace sinkd::client
