// Loads that fail, over and over, of a checkpoint large enough to be missed when its memory stays.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>

#include <gtest/gtest.h>

#include "server/models/registry.h"
#include "tests/testing/large_checkpoint.h"

namespace sinkd::testing {

inline constexpr int kLoads = 20;
inline constexpr int64_t kMebibyte = int64_t{1} << 20;

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
