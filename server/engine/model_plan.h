// PlanModel: what loading a checkpoint would take, computed from its headers without reading
// weights (except to compare a tied head that is stored separately). A folder that holds only a
// config.json is planned from that, with the tensors that its family needs.
//
// Sizes are in bytes. Thread-safety: plain values; PlanModel may be called from any thread.
// Errors: those of Model::Load that headers reveal (a folder or family that cannot be loaded, a
// missing tensor, a wrong shape); INVALID_ARGUMENT for an invalid device or placement;
// CANCELLED.
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
  kLoaded,  // for the forward pass
  kHead,    // part of an untied output head, read only for losses after interventions
  kUnused,  // never read: unknown to the family, or a tied head that is stored separately
};

struct PlannedTensor {
  std::string name;            // as in the checkpoint
  std::string stored_type;     // in the notation of safetensors: "F32", "BF16", "U8", ...
  std::vector<int64_t> shape;  // as stored, row-major
  int64_t stored_bytes = 0;
  TensorUse use = TensorUse::kLoaded;
};

// What one device would hold.
struct DeviceShare {
  std::string device;
  int64_t first_block = 0;
  int64_t blocks = 0;
  int64_t weight_bytes = 0;      // in the compute type; of two blocks if weights are streamed
  int64_t activation_bytes = 0;  // peak for one sample of `positions` tokens
};

struct ModelPlan {
  DecoderSpec spec;
  std::string compute_type;  // "float32" or "bfloat16"
  Residency residency = Residency::kResident;
  bool has_weights = false;            // false: the folder holds only config.json
  std::string quantization;            // "gptq 4 bits, 4.63 bits per weight"; empty: there is none
  std::vector<PlannedTensor> tensors;  // by name
  int64_t parameters = 0;              // of the model, including an untied head
  int64_t stored_bytes = 0;            // of the tensors that would be loaded
  int64_t weight_bytes = 0;            // of the same tensors, in the compute type
  int64_t largest_block_bytes = 0;     // in the compute type
  int64_t positions = 0;               // length of the sample that activations are planned for
  std::vector<DeviceShare> devices;    // in block order; the first also holds the embedding
  std::vector<std::string> warnings;   // as ModelInfo::warnings

  std::string Placement() const;  // as LoadOptions::device; never "auto"
};

// `positions` is limited to the model's longest sample.
absl::StatusOr<ModelPlan> PlanModel(const std::filesystem::path& folder, const LoadOptions& options,
                                    int64_t positions, std::stop_token stop = {});

}  // namespace sinkd
