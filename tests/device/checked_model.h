// What the checks share: models that must load, samples of random ids.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "server/engine/model.h"

namespace sinkd::device_check {

// Ends the program, saying why, when the folder does not load.
std::unique_ptr<Model> LoadOrExit(const std::filesystem::path& folder, const std::string& device,
                                  ComputeType type);

TokenIds RandomIds(const DecoderSpec& spec, int64_t length);

}  // namespace sinkd::device_check
