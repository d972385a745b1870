// FamilyFacts: information about a model family for people: its models, what sets it apart, how it
// was verified, and what the paper (arXiv 2512.22213) found in it. The forward pass reads none of
// this.
//
// Thread-safety: constant data.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sinkd {

// The largest difference from the reference at one site, over all checkpoints, blocks and lengths
// compared.
struct SiteDifference {
  std::string_view
      site;        // as in engine/taps/taps.h, "resid_post", ...; "alpha": attention column means
  double float32;  // distance of rows, relative to the row's norm; alpha: absolute
  double bfloat16_ratio;  // distance from float32, relative to the reference's; 0: not measured
};

// A published checkpoint.
struct KnownModel {
  std::string_view name;  // "Qwen/Qwen2.5-7B"
  int64_t parameters;     // including the output head
  int64_t weight_bytes;   // in bfloat16, without an untied output head, as in memory
};

struct FamilyFacts {
  std::string_view model_type;  // as config.json writes it
  std::string_view models;      // "Llama 2 to 3.2, CodeLlama, SmolLM2, R1-Distill-Llama"
  std::string_view particular;  // "llama3 and other rotary scalings"
  std::string_view finding;     // of the paper; empty if it does not cover the family
  std::string_view reference;   // "transformers 5.24.0"
  std::span<const SiteDifference> differences;
  std::span<const KnownModel> known_models;  // empty: published only inside others
};

// One entry per family, in the order of Families() (engine/families/family.h).
std::span<const FamilyFacts> AllFamilyFacts();

}  // namespace sinkd
