// Checkpoint: all tensors of a checkpoint folder by name - one safetensors file, the shards that
// model.safetensors.index.json names, or one GGUF file. Shards are taken from the index, never by
// globbing.
//
// Thread-safety: const methods may run on several threads.
// Errors: FAILED_PRECONDITION naming the file: no weights, pickled weights only, an adapter alone,
// quantized weights, several GGUF files, a missing shard, a link to what is missing, a shard path
// that leaves the folder, a tensor in two shards, more shards or tensors than a model has;
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

#include "server/engine/checkpoint/tensor_source.h"

namespace sinkd {

class Checkpoint {
 public:
  static absl::StatusOr<Checkpoint> Open(const std::filesystem::path& folder,
                                         std::stop_token stop = {});

  struct Location {
    const TensorSource* file;  // owned by the checkpoint
    const TensorEntry* entry;
  };

  // nullptr when there is no such tensor; lives as long as the checkpoint.
  const Location* Find(std::string_view name) const;
  const std::map<std::string, Location, std::less<>>& tensors() const { return tensors_; }

 private:
  absl::Status AddSource(std::unique_ptr<TensorSource> source);

  std::vector<std::unique_ptr<TensorSource>> sources_;
  std::map<std::string, Location, std::less<>> tensors_;
};

}  // namespace sinkd
