// ModelClient: sinks.v1.ModelService with retries, paging and error details.
//
// Model names may be given with or without the prefix "models/".
// Errors: those of the server, with details (client/error_report.h); UNAVAILABLE without details if
// it cannot be reached; DEADLINE_EXCEEDED and CANCELLED according to the options.
// Thread-safety: const methods may be called from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>
#include <grpcpp/channel.h>

#include "client/call.h"
#include "sinks/v1/models.grpc.pb.h"

namespace sinkd::client {

// "models/a" for both "a" and "models/a".
std::string ModelName(std::string_view name);

// Unset: the server's defaults.
struct LoadOptions {
  std::string device;
  sinks::v1::ComputeType compute_type = sinks::v1::COMPUTE_TYPE_UNSPECIFIED;
  sinks::v1::Residency residency = sinks::v1::RESIDENCY_UNSPECIFIED;
  // Ignored by plans:
  sinks::v1::ActivationQuantization activation_quantization =
      sinks::v1::ACTIVATION_QUANTIZATION_UNSPECIFIED;
  std::optional<bool> pinned;
};

struct PlanOptions {
  LoadOptions load;
  std::optional<int32_t> positions;  // absent: the server's default
  bool tensors = true;               // false: only the plan
};

class ModelClient {
 public:
  explicit ModelClient(std::shared_ptr<grpc::Channel> channel, RetryPolicy retry = {});

  // Calls `visit` for every model, ordered by name; fetches one page at a time.
  absl::Status List(const CallOptions& options,
                    const std::function<void(const sinks::v1::Model&)>& visit) const;

  absl::StatusOr<sinks::v1::Model> Get(std::string_view name, const CallOptions& options) const;

  // Returns the plan with all of its tensors, from all pages.
  absl::StatusOr<sinks::v1::PlanModelResponse> Plan(std::string_view name, const PlanOptions& plan,
                                                    const CallOptions& options) const;

  // Loads a model, waits, and returns the READY model. `progress` (may be empty) receives every
  // message except the last. Not retried: the caller decides what to do about a failed load.
  absl::StatusOr<sinks::v1::Model> Load(
      std::string_view name, const LoadOptions& load, const CallOptions& options,
      const std::function<void(const sinks::v1::LoadModelResponse&)>& progress) const;

  // Returns the model after the call: UNLOADING while samples still run on it, else AVAILABLE.
  absl::StatusOr<sinks::v1::Model> Unload(std::string_view name, const CallOptions& options) const;

  absl::StatusOr<sinks::v1::ListFamiliesResponse> Families(const CallOptions& options) const;

 private:
  std::unique_ptr<sinks::v1::ModelService::StubInterface> stub_;
  RetryPolicy retry_;
};

}  // namespace sinkd::client
