// WeightPlan: the tensors that a decoder needs from a checkpoint and their sizes, from the headers.
// It is made by loading onto torch's meta device, so that it follows the same rules as a load.
// Internal to the engine.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <absl/status/statusor.h>

#include "server/engine/checkpoint/checkpoint.h"
#include "server/engine/families/family.h"
#include "server/engine/model_plan.h"

namespace sinkd {

struct WeightPlan {
  DecoderPlan decoder;                 // with the names that the checkpoint uses
  std::vector<PlannedTensor> tensors;  // by name
  int64_t outer_bytes = 0;             // of OuterWeights, in the compute type
  std::vector<int64_t> block_bytes;    // of each block, in the compute type
  std::string quantization;            // as ModelPlan::quantization
  std::vector<std::string> warnings;   // unread keys, extra tensors, a missing or differing head

  int64_t StoredBytes() const;  // of the tensors that a load reads
  int64_t WeightBytes() const;  // of all weights, in the compute type
};

// `checkpoint` null: the tensors that the family needs, in the type that config.json gives.
// Errors: FAILED_PRECONDITION for a tensor that is missing, has a wrong shape or dtype, or belongs
// to a block that config.json does not have (the error names it), and for too many tensors;
// CANCELLED.
absl::StatusOr<WeightPlan> PlanWeights(const Checkpoint* checkpoint, const DecoderPlan& decoder,
                                       at::ScalarType dtype, std::stop_token stop = {});

}  // namespace sinkd
