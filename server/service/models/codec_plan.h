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
  std::string after;  // the last tensor of the previous page; empty: the first page
};

// `defaults` apply to absent load options.
absl::StatusOr<PlanRequest> DecodePlanRequest(const sinks::v1::PlanModelRequest& request,
                                              const LoadOptions& defaults);

// The requested page of `planned`. INVALID_ARGUMENT if it begins after a tensor that is not in the
// plan.
absl::StatusOr<sinks::v1::PlanModelResponse> EncodePlan(const PlanRequest& request,
                                                        const PlannedLoad& planned);

}  // namespace sinkd
