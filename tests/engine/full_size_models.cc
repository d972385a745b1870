#include "tests/engine/full_size_models.h"

#include <fstream>

#include <nlohmann/json.hpp>

namespace sinkd::testing {

std::vector<FullSizeModel> FullSizeModels() {
  const std::filesystem::path folder = SINKD_FULL_SIZE_DIR;
  std::vector<FullSizeModel> models;
  const auto published = nlohmann::json::parse(std::ifstream(folder / "published.json"));
  for (const auto& [name, model] : published.items()) {
    models.push_back({.name = name,
                      .repository = model.at("repository"),
                      .parameters = model.at("parameters"),
                      .folder = folder / name});
  }
  return models;
}

}  // namespace sinkd::testing
