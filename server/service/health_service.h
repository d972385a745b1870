// HealthService: the standard health protocol, for the server as a whole ("") and by service.
//
// gRPC's own cannot be told anything before the port is open, and says SERVING until then; this one
// starts as NOT_SERVING, and ends open watches at shutdown instead of holding it up.
//
// Ownership: must outlive the grpc::Server that it is registered with.
// Thread-safety: all methods may be called from any thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include "grpc/health/v1/health.grpc.pb.h"

namespace sinkd {

class HealthService final : public grpc::health::v1::Health::CallbackService {
 public:
  using Proto = grpc::health::v1::HealthCheckResponse;

  // Knows `services` and "", all NOT_SERVING.
  explicit HealthService(const std::vector<std::string>& services);
  ~HealthService() override;

  void SetServing(bool serving);  // all of them
  // While a device is stuck they are NOT_SERVING, whatever SetServing said.
  void SetStuck(bool stuck);

  bool serving() const;  // as a whole

  // NOT_SERVING for good, and all watches end with UNAVAILABLE once they have been told.
  void Shutdown();

  grpc::ServerUnaryReactor* Check(grpc::CallbackServerContext* context,
                                  const grpc::health::v1::HealthCheckRequest* request,
                                  Proto* response) override;
  grpc::ServerWriteReactor<Proto>* Watch(
      grpc::CallbackServerContext* context,
      const grpc::health::v1::HealthCheckRequest* request) override;

 private:
  class Watcher;

  // Under the lock.
  Proto::ServingStatus StatusOf(const std::string& service) const;
  void TellAll();

  mutable std::mutex mutex_;  // taken before a watcher's
  std::set<std::string> services_;
  bool serving_ = false;
  bool stuck_ = false;
  bool shut_down_ = false;
  std::set<std::shared_ptr<Watcher>> watchers_;
};

}  // namespace sinkd
