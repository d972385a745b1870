// The tensor names of GGUF files, turned into those of Hugging Face checkpoints.
//
// Thread-safety: pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sinkd {

// Whose heads' rows a converter has put in another order: for llama, each head's two halves are
// interleaved, as the rotary embedding of the original weights pairs channels.
enum class GgufRows { kAsTheyAre, kQueryHeads, kKeyHeads };

struct GgufArchitecture {
  std::string_view name;  // general.architecture, and config.json's model_type
  bool interleaved;       // rows of q and k
};

std::span<const GgufArchitecture> GgufArchitectures();

struct GgufName {
  std::string name;  // as a Hugging Face checkpoint has it; unknown names stay
  GgufRows rows = GgufRows::kAsTheyAre;
};

GgufName TranslateGgufName(const GgufArchitecture& architecture, std::string_view name);

}  // namespace sinkd
