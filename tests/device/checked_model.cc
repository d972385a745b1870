#include "tests/device/checked_model.h"

#include <cstdio>
#include <cstdlib>
#include <random>

namespace sinkd::device_check {

std::unique_ptr<Model> LoadOrExit(const std::filesystem::path& folder, const std::string& device,
                                  ComputeType type) {
  auto model = Model::Load(folder, {.device = device, .compute_type = type});
  if (!model.ok()) {
    std::fprintf(stderr, "%s on %s: %s\n", folder.c_str(), device.c_str(),
                 model.status().ToString().c_str());
    std::exit(1);
  }
  return *std::move(model);
}

TokenIds RandomIds(const DecoderSpec& spec, int64_t length) {
  std::mt19937 random(static_cast<uint32_t>(length));
  TokenIds ids;
  for (int64_t t = 0; t < length; ++t) {
    ids.push_back(static_cast<int32_t>(random() % static_cast<uint32_t>(spec.vocabulary)));
  }
  return ids;
}

}  // namespace sinkd::device_check
