// ModelSetup: what is decided about a model before its weights are read: family, weights, compute
// type and placement. Model::Load and PlanModel both begin with it. Internal to the engine.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <vector>

#include <ATen/core/Tensor.h>
#include <absl/status/statusor.h>

#include "server/engine/checkpoint/checkpoint.h"
#include "server/engine/model.h"
#include "server/engine/placement.h"
#include "server/engine/weights/weight_plan.h"

namespace sinkd {

struct ModelSetup {
  std::optional<Checkpoint> checkpoint;  // empty: the folder has only a config.json
  WeightPlan weights;
  at::ScalarType type = at::kFloat;
  std::vector<BlockSpan> spans;

  const DecoderSpec& spec() const { return weights.decoder.spec; }
  // The device of each block.
  std::vector<at::Device> BlockDevices() const;
  // The most bytes of weights that the devices of `spans` hold at one time.
  std::vector<int64_t> HeldBytes(Residency residency) const;
};

// Reads headers, and a tied head if it is stored too; opens the devices. Errors: those of
// PlanModel.
absl::StatusOr<ModelSetup> SetUpModel(const std::filesystem::path& folder,
                                      const LoadOptions& options, std::stop_token stop);

std::string TypeName(at::ScalarType type);  // "float32" or "bfloat16"

}  // namespace sinkd
