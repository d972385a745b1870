// A real server on a free port over a fake catalog, with a channel to it.
#pragma once

#include <memory>

#include <grpcpp/channel.h>

#include "fake_catalog.h"
#include "server/service/server.h"
#include "server/telemetry/metrics.h"

namespace sinkd::testing {

struct RunningServer {
  // `store` is borrowed; null: none.
  explicit RunningServer(Server::Options options = {}, RunStore* store = nullptr);

  FakeCatalog catalog;
  Metrics metrics;
  std::unique_ptr<Server> server;
  std::shared_ptr<grpc::Channel> channel;
};

}  // namespace sinkd::testing
