// Reading what families share from config.json. Each function fills a part of the spec and refuses
// sizes that no model has; what a key is called and means when absent is the family's to say.
#pragma once

#include <functional>
#include <string_view>

#include <absl/status/statusor.h>

#include "server/engine/families/family.h"
#include "server/engine/families/rope_config.h"

namespace sinkd {

// Largest sizes that are taken for a model's.
inline constexpr int64_t kMaxBlocks = 1024;
inline constexpr int64_t kMaxWidth = int64_t{1} << 20;
inline constexpr int64_t kMaxHeads = 4096;
inline constexpr int64_t kMaxVocabulary = int64_t{1} << 24;
inline constexpr int64_t kMaxPositions = int64_t{1} << 30;
inline constexpr int64_t kMaxExperts = 4096;
inline constexpr int64_t kMaxTaps = 256;

// The keys of the sizes every family has, and what an absent one stands for; 0: it is required.
struct SizeKeys {
  std::string_view blocks = "num_hidden_layers";
  std::string_view hidden = "hidden_size";
  std::string_view heads = "num_attention_heads";
  std::string_view intermediate = "intermediate_size";
  std::string_view max_positions = "max_position_embeddings";
  int64_t intermediate_per_hidden = 0;  // so many times hidden
  int64_t blocks_absent = 0;
  int64_t heads_absent = 0;
  int64_t vocabulary_absent = 0;
};

// The one of two names of a key that is written, `key` where neither is. An error where both are
// and say different things.
absl::StatusOr<std::string_view> EitherKey(const ConfigReader& config, std::string_view key,
                                           std::string_view other);

// Sizes, dtype and tied head; as many key/value heads as heads, of hidden / heads channels, full
// attention in every block, scores over sqrt(head_size), no rotation.
absl::StatusOr<DecoderSpec> ReadSizes(const ConfigReader& config, const SizeKeys& keys,
                                      int64_t max_positions, bool tied);

// The type of the weights, as config.json says; empty when it does not.
absl::StatusOr<std::string> ReadDtype(const ConfigReader& config);

// num_key_value_heads and head_dim. `kv_heads_absent`: 0 means as many as heads;
// `head_size_absent`: 0 means hidden / heads. Scores are divided by the root of the head size.
absl::Status ReadHeads(const ConfigReader& config, int64_t kv_heads_absent,
                       int64_t head_size_absent, DecoderSpec& spec);

// For families whose heads always share the width: an error where they do not divide it.
absl::Status CheckHeadsDivide(const ConfigReader& config, const SizeKeys& keys,
                              const DecoderSpec& spec);

// The activation under `key`, by transformers' names.
absl::Status ReadActivation(const ConfigReader& config, std::string_view key,
                            std::string_view absent, DecoderSpec& spec);

// The epsilon of the norms under `key`.
absl::Status ReadNormEpsilon(const ConfigReader& config, std::string_view key, double absent,
                             DecoderSpec& spec);

// One rotation for every block. Head size and longest context are the spec's.
absl::Status ReadRopeForAll(const ConfigReader& config, RopeDefaults defaults, DecoderSpec& spec);

// The window of the blocks that slide: null in the config means none. 0 when there is none.
absl::StatusOr<int64_t> ReadWindow(const ConfigReader& config, int64_t absent);

// Sets `window` on the blocks that layer_types calls "sliding_attention", or, when the key is
// absent, on those for which `slides` says so. Blocks that slide without a window, and types that
// are neither that nor "full_attention", are errors.
absl::Status ReadWindows(const ConfigReader& config, int64_t window,
                         const std::function<bool(int64_t)>& slides, DecoderSpec& spec);

// Sets `mixer` on the blocks that layer_types does not call "full_attention", or, when the key is
// absent, on those for which `mixes` says so. Names of other mixers are errors.
absl::Status ReadMixers(const ConfigReader& config, Mixer mixer,
                        const std::function<bool(int64_t)>& mixes, DecoderSpec& spec);

// For families that have no layer_types: one that is written describes the windows that the
// reference computes with, or is an error.
absl::Status CheckLayerTypes(const ConfigReader& config, const DecoderSpec& spec);

// Names of llama's tensors, which most families kept.
WeightNames LlamaNames();

}  // namespace sinkd
