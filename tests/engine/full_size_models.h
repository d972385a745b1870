// Real checkpoints as their config.json alone: tests/engine/full_size, one folder each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace sinkd::testing {

struct FullSizeModel {
  std::string name;        // of its folder
  std::string repository;  // "Qwen/Qwen2.5-7B"
  int64_t parameters = 0;  // as published, see full_size/README.md
  std::filesystem::path folder;
};

// All of them, by name.
std::vector<FullSizeModel> FullSizeModels();

}  // namespace sinkd::testing
