// WeightPlan: which tensors a decoder takes from a checkpoint and what they weigh, told from the
// headers. It is found by loading onto torch's meta device, so that it follows the same rules as a
// load. Internal to the engine.
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
  std::vector<std::string> warnings;   // keys not read, extra tensors, a missing or unlike head

  int64_t StoredBytes() const;  // of the tensors that a load reads
  int64_t WeightBytes() const;  // of all weights, in the compute type
};

// `checkpoint` null: the tensors that the family needs, in the type that config.json says.
// Errors: FAILED_PRECONDITION naming the tensor that is missing or has a wrong shape or dtype, or
// that belongs to a block config.json does not have, and for more tensors than a model has;
// CANCELLED.
absl::StatusOr<WeightPlan> PlanWeights(const Checkpoint* checkpoint, const DecoderPlan& decoder,
                                       at::ScalarType dtype, std::stop_token stop = {});

}  // namespace sinkd
