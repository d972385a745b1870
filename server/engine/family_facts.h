// FamilyFacts: what to tell people about a model family - its models, what is particular about it,
// how it was checked, what the paper (arXiv 2512.22213) found in it. Nothing here is read by the
// forward pass.
//
// Thread-safety: constant data.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sinkd {

// The largest difference at one site to the reference, over all its checkpoints, blocks and
// lengths.
struct SiteDifference {
  std::string_view
      site;        // as in engine/taps/taps.h, "resid_post", ...; "alpha": attention column means
  double float32;  // row distance over the row's norm; alpha: absolute
  double bfloat16_ratio;  // distance to float32 over the reference's own distance; 0: not measured
};

// A published checkpoint.
struct KnownModel {
  std::string_view name;  // "Qwen/Qwen2.5-7B"
  int64_t parameters;     // the output head included
  int64_t weight_bytes;   // in bfloat16, without an untied output head: what sinkd holds
};

struct FamilyFacts {
  std::string_view model_type;  // as config.json writes it
  std::string_view models;      // "Llama 2 to 3.2, CodeLlama, SmolLM2, R1-Distill-Llama"
  std::string_view particular;  // "llama3 and other rotary scalings"
  std::string_view finding;     // of the paper; empty when it did not look at the family
  std::string_view reference;   // "transformers 4.57.1"
  std::span<const SiteDifference> differences;
  std::span<const KnownModel> known_models;
};

// One entry per family, in the order of Families() (engine/families/family.h).
std::span<const FamilyFacts> AllFamilyFacts();

}  // namespace sinkd
