// Checkpoint: all tensors of a checkpoint folder by name, from one safetensors file, the shards
// that model.safetensors.index.json lists, or one GGUF file. Shards come from the index, never from
// the folder's listing. Quantized weights (quantized/) appear as plain float32 tensors.
//
// Thread-safety: const methods may run on several threads.
// Errors: FAILED_PRECONDITION naming the file: no weights, only pickled weights, only an adapter,
// an unreadable form of quantization, several GGUF files, a missing shard, a dangling link, a shard
// path that leaves the folder, a tensor in two shards, too many shards or tensors;
// CANCELLED.
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

  // Null if there is no such tensor; valid as long as the checkpoint.
  const Location* Find(std::string_view name) const;
  const TensorIndex& tensors() const { return tensors_; }

  // The format of quantized weights, for people: "gptq 4 bits"; empty if there are none.
  const std::string& quantization() const { return quantization_; }

  // Sets whether inputs of quantized projections are rounded as config.json says. Default: no.
  // FAILED_PRECONDITION (QUANTIZED_ACTIVATIONS) for a scheme that cannot be applied.
  absl::Status RoundActivations();
  // How they are rounded, for people: "int8 per token"; empty if they are not.
  std::string activation_quantization() const;
  // How inputs of the projection with this weight are rounded.
  ActivationScheme ActivationsOf(std::string_view weight) const;

 private:
  absl::Status AddSource(std::unique_ptr<TensorSource> source);
  // Replaces quantized weights by plain ones.
  absl::Status Unpack(const std::filesystem::path& folder, std::stop_token stop);

  std::vector<std::unique_ptr<TensorSource>> sources_;
  TensorIndex tensors_;
  std::string quantization_;
  StoredActivations activations_;
  bool rounds_activations_ = false;
};

// gpt-oss's experts: X_blocks and X_scales, which are unpacked one decoder block at a time.
bool IsMxfp4Blocks(const Checkpoint& checkpoint, std::string_view name);

}  // namespace sinkd
