// Reading Mamba2's keys as bamba named them, and its followers granitemoehybrid and falcon_h1.
#pragma once

#include <absl/status/status.h>

#include "server/engine/families/family.h"

namespace sinkd {

// Sizes of the state, its heads and groups, taps, biases and limits of steps, into spec.mamba, and
// the names are bamba's.
absl::Status ReadMamba(const ConfigReader& config, DecoderPlan& plan);

}  // namespace sinkd
