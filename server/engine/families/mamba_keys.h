// Reading Mamba2's keys as bamba named them, and its followers granitemoehybrid and falcon_h1.
#pragma once

#include <cstdint>
#include <string_view>

#include <absl/status/status.h>

#include "server/engine/families/family.h"

namespace sinkd {

// The key of the mixer's width, and what stands for it where it is absent, not null. Without one,
// and where it is null, the width is mamba_expand times the stream's.
struct MambaWidth {
  std::string_view width_key;
  int64_t width = 0;
};

// Sizes of the state, its heads and groups, taps, biases and limits of steps, into spec.mamba, and
// the names are bamba's.
absl::Status ReadMamba(const ConfigReader& config, DecoderPlan& plan,
                       const MambaWidth& defaults = {});

}  // namespace sinkd
