#include "running_server.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>
#include <gtest/gtest.h>

namespace sinkd::testing {

RunningServer::RunningServer(Server::Options options, RunStore* store)
    : metrics("test", Server::Methods()) {
  absl::StatusOr<std::unique_ptr<Server>> started = Server::Start(options, catalog, metrics, store);
  EXPECT_TRUE(started.ok()) << started.status();
  server = *std::move(started);
  server->SetServing(true);
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  channel =
      grpc::CreateCustomChannel(server->address(), grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace sinkd::testing
