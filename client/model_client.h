// ModelClient: sinks.v1.ModelService with retries, paging and error details taken care of.
//
// Model names are accepted with and without the "models/" in front.
// Errors: what the server says, details kept (client/error_report.h); UNAVAILABLE without details
// when it cannot be reached; DEADLINE_EXCEEDED, CANCELLED as the options say.
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
  std::optional<bool> pinned;  // of no meaning to plans
};

struct PlanOptions {
  LoadOptions load;
  std::optional<int32_t> positions;  // absent: the server's default
  bool tensors = true;               // false: the plan alone
};

class ModelClient {
 public:
  explicit ModelClient(std::shared_ptr<grpc::Channel> channel, RetryPolicy retry = {});

  // Calls `visit` for every model, by name, a page at a time.
  absl::Status List(const CallOptions& options,
                    const std::function<void(const sinks::v1::Model&)>& visit) const;

  absl::StatusOr<sinks::v1::Model> Get(std::string_view name, const CallOptions& options) const;

  // The plan with all its tensors, however many pages they take.
  absl::StatusOr<sinks::v1::PlanModelResponse> Plan(std::string_view name, const PlanOptions& plan,
                                                    const CallOptions& options) const;

  // Loads and waits; `progress` (may be empty) sees every message but the last, as it comes. The
  // READY model. Not retried: a load that broke off is for the caller to judge.
  absl::StatusOr<sinks::v1::Model> Load(
      std::string_view name, const LoadOptions& load, const CallOptions& options,
      const std::function<void(const sinks::v1::LoadModelResponse&)>& progress) const;

  // The model after the call: UNLOADING while samples still run on it, else AVAILABLE.
  absl::StatusOr<sinks::v1::Model> Unload(std::string_view name, const CallOptions& options) const;

  absl::StatusOr<sinks::v1::ListFamiliesResponse> Families(const CallOptions& options) const;

 private:
  std::unique_ptr<sinks::v1::ModelService::StubInterface> stub_;
  RetryPolicy retry_;
};

}  // namespace sinkd::client
