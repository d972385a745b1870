// HealthService: the standard health protocol, for the server as a whole ("") and by service.
//
// gRPC's own cannot be told anything before the port is open, and says SERVING until then; this one
// starts as NOT_SERVING, and ends open watches at shutdown instead of holding it up.
//
// A request is a name, so that no more than a few KiB of it are kept.
//
// Ownership: must outlive the grpc::Server that it is registered with.
// Thread-safety: all methods may be called from any thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "grpc/health/v1/health.pb.h"
#include "server/service/calls/call_service.h"

namespace sinkd {

class HealthService final : public CallService {
 public:
  using Proto = grpc::health::v1::HealthCheckResponse;

  // Knows `services` and "", all NOT_SERVING.
  HealthService(const CallResources& calls, const std::vector<std::string>& services);
  ~HealthService() override;

  void SetServing(bool serving);  // all of them
  // While a device is stuck they are NOT_SERVING, whatever SetServing said.
  void SetStuck(bool stuck);

  bool serving() const;  // as a whole

  // NOT_SERVING for good, and all watches end with UNAVAILABLE once they have been told.
  void Shutdown();

 private:
  class HealthCall;

  Proto::ServingStatus StatusOf(const std::string& service) const;
  bool shut_down() const;
  absl::Status Enter(const std::shared_ptr<HealthCall>& call);
  void Leave(const HealthCall* call);
  void TellAll();

  mutable std::mutex mutex_;  // taken after a call's
  std::set<std::string> services_;
  bool serving_ = false;
  bool stuck_ = false;
  bool shut_down_ = false;
  std::map<const HealthCall*, std::weak_ptr<HealthCall>> open_;
  CallerBound bound_;
};

}  // namespace sinkd
