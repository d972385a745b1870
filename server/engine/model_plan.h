// PlanModel: what loading a checkpoint would take, told from its headers before a byte of weights
// is read, but for a tied head that is stored again: whether it differs. A folder that holds only a
// config.json is planned from that: the tensors its family needs, none of them there.
//
// Sizes are bytes. Thread-safety: plain values; PlanModel may be called from any thread.
// Errors: those of Model::Load that headers show - a folder or family that cannot be loaded, a
// tensor missing from weights that are there, a wrong shape -, INVALID_ARGUMENT for a device or
// placement that is not one, CANCELLED.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "server/engine/model.h"

namespace sinkd {

enum class TensorUse {
  kLoaded,  // the forward pass needs it
  kHead,    // of the untied output head, read only for losses after interventions
  kUnused,  // read by nothing: unknown to the family, or a tied head that is stored again
};

struct PlannedTensor {
  std::string name;            // as the checkpoint writes it
  std::string stored_type;     // as safetensors writes it: "F32", "BF16", "U8", ...
  std::vector<int64_t> shape;  // as stored, row-major
  int64_t stored_bytes = 0;
  TensorUse use = TensorUse::kLoaded;
};

// What one device would hold.
struct DeviceShare {
  std::string device;
  int64_t first_block = 0;
  int64_t blocks = 0;
  int64_t weight_bytes = 0;      // in the compute type; of two blocks when weights are streamed
  int64_t activation_bytes = 0;  // at the peak of one sample of `positions` tokens
};

struct ModelPlan {
  DecoderSpec spec;
  std::string compute_type;  // "float32" or "bfloat16"
  Residency residency = Residency::kResident;
  bool has_weights = false;            // false: only config.json is there
  std::vector<PlannedTensor> tensors;  // by name
  int64_t parameters = 0;              // of the model, an untied head included
  int64_t stored_bytes = 0;            // of the tensors that would be loaded
  int64_t weight_bytes = 0;            // of the same, in the compute type
  int64_t largest_block_bytes = 0;     // in the compute type
  int64_t positions = 0;               // the sample's length that activations are told for
  std::vector<DeviceShare> devices;    // in block order; the first holds the embedding too
  std::vector<std::string> warnings;   // as ModelInfo::warnings

  std::string Placement() const;  // as LoadOptions::device; never "auto"
};

// `positions` is clipped to the model's longest sample.
absl::StatusOr<ModelPlan> PlanModel(const std::filesystem::path& folder, const LoadOptions& options,
                                    int64_t positions, std::stop_token stop = {});

}  // namespace sinkd
