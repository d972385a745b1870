// Checkpoints large enough to be missed when their memory stays, written in a moment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace sinkd::testing {

struct StoredTensor {
  std::string name;
  std::vector<int> shape;
  int64_t offset = 0;  // in the file
  int64_t count() const;
};

// Of a llama; 71 MB of float32 where nothing else is said.
struct LargeShape {
  int width = 512;
  int units = 1536;
  int heads = 8;
  int kv_heads = 8;
  int vocabulary = 8192;
  int blocks = 4;
  int max_positions = 2048;
};

// A llama in one file of float32, whose weights are all 0.01.
class LargeCheckpoint {
 public:
  explicit LargeCheckpoint(const std::filesystem::path& folder, const LargeShape& shape = {});

  std::filesystem::path file() const { return folder_ / "model.safetensors"; }
  const std::vector<StoredTensor>& tensors() const { return tensors_; }
  int64_t weight_bytes() const { return data_bytes_; }

  // Sets the last value of a tensor.
  void Poke(const StoredTensor& tensor, float value) const;

 private:
  void Add(const std::string& module, std::vector<int> shape);
  void AddBlock(const std::string& block);
  void WriteFile();

  std::filesystem::path folder_;
  LargeShape shape_;
  std::vector<StoredTensor> tensors_;
  int64_t data_bytes_ = 0;
};

}  // namespace sinkd::testing
