// CodecPlan: plans of models, between proto and struct.
//
// Thread-safety: pure functions.
// Errors: INVALID_ARGUMENT naming the field, its value and the fix.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>

#include "server/models/registry.h"
#include "sinks/v1/models.pb.h"

namespace sinkd {

struct PlanRequest {
  std::string id;  // without "models/"
  LoadOptions options;
  int64_t positions = 0;
  size_t page_size = 0;
  std::string after;  // the tensor that ends the page before; empty: the first page
};

// `defaults` where the request is silent on how to load.
absl::StatusOr<PlanRequest> DecodePlanRequest(const sinks::v1::PlanModelRequest& request,
                                              const LoadOptions& defaults);

// The page of `planned` that `request` asks for. INVALID_ARGUMENT when it begins after a tensor
// that the plan has not.
absl::StatusOr<sinks::v1::PlanModelResponse> EncodePlan(const PlanRequest& request,
                                                        const PlannedLoad& planned);

}  // namespace sinkd
