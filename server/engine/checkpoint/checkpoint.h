// Checkpoint: all tensors of a checkpoint folder by name - one safetensors file, the shards that
// model.safetensors.index.json names, or one GGUF file. Shards are taken from the index, never by
// globbing. Weights that are quantized (quantized/) look like plain ones in float32.
//
// Thread-safety: const methods may run on several threads.
// Errors: FAILED_PRECONDITION naming the file: no weights, pickled weights only, an adapter alone,
// weights quantized in a form that cannot be read, several GGUF files, a missing shard, a link to
// what is missing, a shard path that leaves the folder, a tensor in two shards, more shards or
// tensors than a model has; CANCELLED.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "server/engine/checkpoint/quantized/activation_scheme.h"
#include "server/engine/checkpoint/quantized/module_tensors.h"
#include "server/engine/checkpoint/tensor_source.h"

namespace sinkd {

class Checkpoint {
 public:
  static absl::StatusOr<Checkpoint> Open(const std::filesystem::path& folder,
                                         std::stop_token stop = {});

  using Location = TensorLocation;  // its file and entry are owned by the checkpoint

  // nullptr when there is no such tensor; lives as long as the checkpoint.
  const Location* Find(std::string_view name) const;
  const TensorIndex& tensors() const { return tensors_; }

  // How quantized weights are stored, for people: "gptq 4 bits"; empty where there are none.
  const std::string& quantization() const { return quantization_; }

  // Whether the inputs of quantized projections are rounded as config.json says; they are not at
  // first. FAILED_PRECONDITION (QUANTIZED_ACTIVATIONS) for a scheme that cannot be applied.
  absl::Status RoundActivations();
  // How they are rounded, for people: "int8 per token"; empty where they are not.
  std::string activation_quantization() const;
  // How the inputs of the projection with this weight are rounded.
  ActivationScheme ActivationsOf(std::string_view weight) const;

 private:
  absl::Status AddSource(std::unique_ptr<TensorSource> source);
  // Puts plain weights in the place of quantized ones.
  absl::Status Unpack(const std::filesystem::path& folder, std::stop_token stop);

  std::vector<std::unique_ptr<TensorSource>> sources_;
  TensorIndex tensors_;
  std::string quantization_;
  StoredActivations activations_;
  bool rounds_activations_ = false;
};

// Of gpt-oss's experts: X_blocks beside X_scales, which are unpacked block by block of the model.
bool IsMxfp4Blocks(const Checkpoint& checkpoint, std::string_view name);

}  // namespace sinkd
