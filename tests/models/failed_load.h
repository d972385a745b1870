// Loads that fail, over and over, of a checkpoint large enough to be missed when its memory stays.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "server/models/registry.h"

namespace sinkd::testing {

inline constexpr int kLoads = 20;
inline constexpr int64_t kMebibyte = int64_t{1} << 20;

struct StoredTensor {
  std::string name;
  std::vector<int> shape;
  int64_t offset = 0;  // in the file
  int64_t count() const;
};

// A llama of 71 MB of float32 in one file, whose weights are all 0.01.
class LargeCheckpoint {
 public:
  explicit LargeCheckpoint(const std::filesystem::path& folder);

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
  std::vector<StoredTensor> tensors_;
  int64_t data_bytes_ = 0;
};

// A registry whose only model is such a checkpoint.
class FailedLoad : public ::testing::Test {
 protected:
  FailedLoad();
  ~FailedLoad() override;

  absl::Status Load(const Registry::Progress& progress = {}, std::stop_token stop = {});

  // Runs `fail` many times, each a load that fails; each has to leave the registry and the memory
  // as they were.
  void ExpectNothingLeft(ModelState state, const std::function<void(int)>& fail);

  // That all of it is still to be had, and given back.
  void ExpectLoads();

  std::filesystem::path root_;
  LargeCheckpoint checkpoint_;
  int64_t held_bytes_ = 0;  // as the observer was told
  Registry registry_;
  int64_t bare_ = 0;  // resident before the first load
};

}  // namespace sinkd::testing
