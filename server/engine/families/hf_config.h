// A checkpoint folder's config.json, turned into a plan by the family it names.
#pragma once

#include <filesystem>

#include <absl/status/statusor.h>

#include "server/engine/families/family.h"

namespace sinkd {

// Errors: FAILED_PRECONDITION for a family that is not known (the message lists those that are),
// one that would need code from the checkpoint, a quantized checkpoint, a classification head, or a
// key that is missing or wrong.
absl::StatusOr<DecoderPlan> PlanFromConfig(const ConfigReader& config);

// The same for the folder's config.json or, where it has none, its GGUF file. An adapter alone is
// an error too.
absl::StatusOr<DecoderPlan> PlanFromFolder(const std::filesystem::path& folder);

}  // namespace sinkd
