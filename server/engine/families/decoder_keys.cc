#include "server/engine/families/decoder_keys.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

constexpr char kRestore[] = "restore config.json from the checkpoint's source";

void ScoreOverRootOfHeadSize(DecoderSpec& spec) {
  spec.score_scale.assign(static_cast<size_t>(spec.blocks),
                          1.0 / std::sqrt(static_cast<double>(spec.head_size)));
}

absl::StatusOr<int64_t> SizeUnless(const ConfigReader& config, std::string_view key, int64_t absent,
                                   int64_t maximum) {
  return absent > 0 ? config.SizeOr(key, absent, maximum) : config.Size(key, maximum);
}

// What layer_types calls a block.
std::string_view LayerType(const DecoderSpec& spec, size_t block) {
  switch (spec.MixerOf(static_cast<int64_t>(block))) {
    case Mixer::kShortConvolution:
      return "conv";
    case Mixer::kGatedDelta:
    case Mixer::kMamba2:
      return "linear_attention";
    case Mixer::kAttentionAndMamba2:
      return "hybrid";
    case Mixer::kNone:
      return "mlp";
    case Mixer::kAttention:
      if (block < spec.chunk.size() && spec.chunk[block] > 0) return "chunked_attention";
      return spec.window[block] > 0 ? "sliding_attention" : "full_attention";
  }
  return "";
}

// One type a block; empty where the key is absent.
absl::StatusOr<std::vector<std::string>> ReadLayerTypes(const ConfigReader& config,
                                                        const DecoderSpec& spec) {
  static constexpr std::string_view kKnown[] = {"full_attention", "sliding_attention",
                                                "chunked_attention", "conv", "linear_attention"};
  SINKD_ASSIGN_OR_RETURN(std::vector<std::string> types, config.TextList("layer_types"));
  if (!types.empty() && types.size() != spec.window.size()) {
    return config.Error("layer_types", StrCat("does not name ", spec.blocks, " blocks"),
                        "list one type per block");
  }
  for (std::string& type : types) {
    // As transformers called them before.
    if (type == "attention") type = "full_attention";
    if (type == "mamba") type = "linear_attention";
    if (std::find(std::begin(kKnown), std::end(kKnown), type) != std::end(kKnown)) continue;
    return config.Error("layer_types",
                        StrCat("names ", Shorten(type), ", which this server cannot compute"),
                        "use a model whose blocks are full_attention, sliding_attention, conv or "
                        "linear_attention");
  }
  return types;
}

}  // namespace

absl::StatusOr<std::string_view> EitherKey(const ConfigReader& config, std::string_view key,
                                           std::string_view other) {
  if (config.Differ(key, other)) {
    return config.Error(other, StrCat("differs from ", key, ", which means the same"),
                        StrCat("remove the wrong one, or ", kRestore));
  }
  return config.Has(key) || !config.Has(other) ? key : other;
}

absl::StatusOr<DecoderSpec> ReadSizes(const ConfigReader& config, const SizeKeys& keys,
                                      int64_t max_positions, bool tied) {
  DecoderSpec spec;
  SINKD_ASSIGN_OR_RETURN(spec.blocks,
                         SizeUnless(config, keys.blocks, keys.blocks_absent, kMaxBlocks));
  SINKD_ASSIGN_OR_RETURN(spec.hidden, config.Size(keys.hidden, kMaxWidth));
  SINKD_ASSIGN_OR_RETURN(spec.heads, SizeUnless(config, keys.heads, keys.heads_absent, kMaxHeads));
  SINKD_ASSIGN_OR_RETURN(spec.vocabulary,
                         SizeUnless(config, "vocab_size", keys.vocabulary_absent, kMaxVocabulary));
  SINKD_ASSIGN_OR_RETURN(
      spec.intermediate,
      SizeUnless(config, keys.intermediate, keys.intermediate_per_hidden * spec.hidden, kMaxWidth));
  SINKD_ASSIGN_OR_RETURN(spec.max_positions,
                         config.SizeOr(keys.max_positions, max_positions, kMaxPositions));
  SINKD_ASSIGN_OR_RETURN(spec.tied_head, config.FlagOr("tie_word_embeddings", tied));
  SINKD_ASSIGN_OR_RETURN(spec.dtype, ReadDtype(config));
  spec.kv_heads = spec.heads;
  const auto blocks = static_cast<size_t>(spec.blocks);
  spec.window.assign(blocks, 0);
  spec.rope_of_block.assign(blocks, -1);
  spec.experts.in_block.assign(blocks, false);
  if (spec.hidden % spec.heads == 0) {
    spec.head_size = spec.hidden / spec.heads;
    ScoreOverRootOfHeadSize(spec);
  }
  return spec;
}

absl::StatusOr<std::string> ReadDtype(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(const std::string old_key, config.TextOr("torch_dtype", ""));
  return config.TextOr("dtype", old_key);
}

absl::Status ReadHeads(const ConfigReader& config, int64_t kv_heads_absent,
                       int64_t head_size_absent, DecoderSpec& spec) {
  const bool absent = !config.Has("num_key_value_heads");
  const int64_t kv_default = absent && kv_heads_absent > 0 ? kv_heads_absent : spec.heads;
  SINKD_ASSIGN_OR_RETURN(spec.kv_heads,
                         config.SizeOr("num_key_value_heads", kv_default, kMaxHeads));
  if (spec.heads % spec.kv_heads != 0) {
    return config.Error("num_key_value_heads",
                        StrCat("does not divide num_attention_heads ", spec.heads), kRestore);
  }
  const int64_t share = head_size_absent > 0 ? head_size_absent : spec.head_size;
  SINKD_ASSIGN_OR_RETURN(spec.head_size, config.SizeOr("head_dim", share, kMaxWidth));
  if (spec.head_size == 0) {
    return config.Error("num_attention_heads", StrCat("does not divide hidden_size ", spec.hidden),
                        StrCat("set head_dim, or ", kRestore));
  }
  ScoreOverRootOfHeadSize(spec);
  return absl::OkStatus();
}

absl::Status CheckHeadsDivide(const ConfigReader& config, const SizeKeys& keys,
                              const DecoderSpec& spec) {
  if (spec.head_size > 0) return absl::OkStatus();
  return config.Error(keys.heads, StrCat("does not divide ", keys.hidden, " ", spec.hidden),
                      kRestore);
}

absl::Status ReadActivation(const ConfigReader& config, std::string_view key,
                            std::string_view absent, DecoderSpec& spec) {
  struct Known {
    std::string_view name;
    Activation activation;
  };
  // The tanh forms differ in how they round, not in what they mean, and are computed in float32.
  static constexpr Known kKnown[] = {
      {"silu", Activation::kSilu},          {"swish", Activation::kSilu},
      {"gelu", Activation::kGelu},          {"gelu_new", Activation::kGeluTanh},
      {"gelu_fast", Activation::kGeluTanh}, {"gelu_pytorch_tanh", Activation::kGeluTanh},
      {"relu", Activation::kRelu},          {"relu2", Activation::kReluSquared}};
  SINKD_ASSIGN_OR_RETURN(const std::string name, config.TextOr(key, absent));
  for (const Known& known : kKnown) {
    if (known.name == name) {
      spec.activation = known.activation;
      return absl::OkStatus();
    }
  }
  return config.Error(key, "is not an activation this server knows",
                      "use silu, gelu, gelu_new, gelu_fast, gelu_pytorch_tanh, relu or relu2");
}

absl::Status ReadNormEpsilon(const ConfigReader& config, std::string_view key, double absent,
                             DecoderSpec& spec) {
  SINKD_ASSIGN_OR_RETURN(spec.norm_epsilon, config.NumberOr(key, absent));
  if (spec.norm_epsilon < 0 || spec.norm_epsilon > 1) {
    return config.Error(key, "is not from 0 to 1", kRestore);
  }
  return absl::OkStatus();
}

absl::Status ReadRopeForAll(const ConfigReader& config, RopeDefaults defaults, DecoderSpec& spec) {
  defaults.head_size = spec.head_size;
  defaults.max_positions = spec.max_positions;
  SINKD_ASSIGN_OR_RETURN(RopeSpec rope, ReadRope(config, defaults));
  // Dynamic scaling follows the sample, past the context the config names.
  if (rope.kind == RopeKind::kDynamic) spec.max_positions = kMaxPositions;
  spec.ropes = {std::move(rope)};
  spec.rope_of_block.assign(static_cast<size_t>(spec.blocks), 0);
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ReadWindow(const ConfigReader& config, int64_t absent) {
  const int64_t unsaid = config.Has("sliding_window") ? 0 : absent;
  return config.SizeOr("sliding_window", unsaid, kMaxPositions);
}

absl::Status ReadWindows(const ConfigReader& config, int64_t window,
                         const std::function<bool(int64_t)>& slides, DecoderSpec& spec) {
  SINKD_ASSIGN_OR_RETURN(const std::vector<std::string> types, ReadLayerTypes(config, spec));
  for (size_t l = 0; l < spec.window.size(); ++l) {
    const bool sliding =
        types.empty() ? slides(static_cast<int64_t>(l)) : types[l] == "sliding_attention";
    if (sliding && window == 0) {
      return config.Error("sliding_window", StrCat("is not set, and block ", l, " slides"),
                          "set the window, or name the block full_attention in layer_types");
    }
    spec.window[l] = sliding ? window : 0;
  }
  return absl::OkStatus();
}

absl::Status ReadMixers(const ConfigReader& config, Mixer mixer,
                        const std::function<bool(int64_t)>& mixes, DecoderSpec& spec) {
  SINKD_ASSIGN_OR_RETURN(const std::vector<std::string> types, ReadLayerTypes(config, spec));
  spec.mixer.assign(spec.window.size(), Mixer::kAttention);
  for (size_t l = 0; l < spec.mixer.size(); ++l) {
    const bool attends =
        types.empty() ? !mixes(static_cast<int64_t>(l)) : types[l] == "full_attention";
    if (!attends) spec.mixer[l] = mixer;
  }
  return CheckLayerTypes(config, spec);
}

absl::Status CheckLayerTypes(const ConfigReader& config, const DecoderSpec& spec) {
  SINKD_ASSIGN_OR_RETURN(const std::vector<std::string> types, ReadLayerTypes(config, spec));
  for (size_t l = 0; l < types.size(); ++l) {
    const std::string_view computed = LayerType(spec, l);
    if (types[l] == computed) continue;
    return config.Error(
        "layer_types",
        StrCat("calls block ", l, " ", types[l], ", but in a model of this type it is ", computed,
               ", whatever the key says"),
        "use the model_type of a family with layer_types, or remove the key");
  }
  return absl::OkStatus();
}

WeightNames LlamaNames() {
  WeightNames names;
  names.embedding = "model.embed_tokens";
  names.final_norm = "model.norm";
  names.head = "lm_head";
  names.block_prefix = "model.layers.";
  names.block.attention_norm = "input_layernorm";
  names.block.q = "self_attn.q_proj";
  names.block.k = "self_attn.k_proj";
  names.block.v = "self_attn.v_proj";
  names.block.o = "self_attn.o_proj";
  names.block.q_norm = "self_attn.q_norm";
  names.block.k_norm = "self_attn.k_norm";
  names.block.mlp_norm = "post_attention_layernorm";
  names.block.gate = "mlp.gate_proj";
  names.block.up = "mlp.up_proj";
  names.block.down = "mlp.down_proj";
  return names;
}

}  // namespace sinkd
