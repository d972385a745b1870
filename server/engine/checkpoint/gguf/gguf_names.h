// The tensor names of GGUF files, turned into those of Hugging Face checkpoints.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sinkd {

// Whose heads' rows a converter has put in another order: for llama, each head's two halves are
// interleaved, as the rotary embedding of the original weights pairs channels.
enum class GgufRows { kAsTheyAre, kQueryHeads, kKeyHeads };

// How stored tensors, one for kTransposed and kByHead and else two, make one of a checkpoint.
enum class GgufJoin {
  kNone,
  kHalves,         // the rows of the first, then those of the second; expert by expert
  kPairs,          // columns are the rows of both in turns; of vectors, their values in turns
  kTransposed,     // expert by expert
  kByHead,         // q, k and v of all heads, there one after the other, by head
  kKeysAndValues,  // by head: the transposed matrix of the first, then that of the second
};

struct GgufArchitecture {
  std::string_view name;        // general.architecture
  std::string_view model_type;  // of config.json
  bool interleaved = false;     // rows of q and k
  bool mixture = false;         // of experts
  bool norms_plus_one = false;  // weights of norms are stored with 1 added
  // Of several rows with one name, the first that fits: this key is `marked`, or 0 for any but 0.
  std::string_view marker;
  int64_t marked = 0;
};

std::span<const GgufArchitecture> GgufArchitectures();

struct GgufName {
  // As a Hugging Face checkpoint has it; unknown names stay. With {} one for each expert, whose
  // matrices lie in the tensor one after the other.
  std::string name;
  GgufRows rows = GgufRows::kAsTheyAre;
  bool plus_one = false;  // 1 is to be taken from its values
  GgufJoin join = GgufJoin::kNone;
  bool second_part = false;
};

GgufName TranslateGgufName(const GgufArchitecture& architecture, std::string_view name);

}  // namespace sinkd
