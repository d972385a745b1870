// ModelClient: sinks.v1.ModelService with retries, paging and error details.
//
// Model names may be given with or without the prefix "models/". Errors and thread-safety:
// client/service_client.h.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "client/service_client.h"
#include "sinks/v1/models.grpc.pb.h"

namespace sinkd::client {

// "models/a" for both "a" and "models/a".
inline std::string ModelName(std::string_view name) {
  return WithPrefix("models/", name);
}

class ModelClient : public ServiceClient<sinks::v1::ModelService> {
 public:
  using ServiceClient::ServiceClient;

  // Calls `visit` for every model, ordered by name; fetches one page at a time.
  absl::Status List(const CallOptions& options,
                    const std::function<void(const sinks::v1::Model&)>& visit) const;

  absl::StatusOr<sinks::v1::Model> Get(std::string_view name, const CallOptions& options) const;

  // Returns the plan with all of its tensors, from all pages; without `tensors`, only the plan.
  absl::StatusOr<sinks::v1::PlanModelResponse> Plan(sinks::v1::PlanModelRequest request,
                                                    bool tensors, const CallOptions& options) const;

  // Loads a model, waits, and returns the READY model. `progress` (may be empty) receives every
  // message except the last. Not retried: the caller decides what to do about a failed load.
  absl::StatusOr<sinks::v1::Model> Load(
      sinks::v1::LoadModelRequest request, const CallOptions& options,
      const std::function<void(const sinks::v1::LoadModelResponse&)>& progress) const;

  // Returns the model after the call: UNLOADING while samples still run on it, else AVAILABLE.
  absl::StatusOr<sinks::v1::Model> Unload(std::string_view name, const CallOptions& options) const;
};

}  // namespace sinkd::client
