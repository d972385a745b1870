// Loads the weights of one block from any layout of checkpoints. Internal to the engine.
#pragma once

#include <absl/status/statusor.h>

#include "server/engine/weights/tensor_loader.h"
#include "server/engine/weights/weights.h"

namespace sinkd {

// `name` has no suffix. Layer norms may also have a bias. If the checkpoint stores no weights of
// norms, the weight is a single 1.
absl::StatusOr<NormWeights> LoadNorm(TensorLoader& loader, const DecoderSpec& spec,
                                     const std::string& name, int64_t width);

absl::StatusOr<BlockWeights> LoadBlock(TensorLoader& loader, const DecoderPlan& plan,
                                       int64_t block);

}  // namespace sinkd
