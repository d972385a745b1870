#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/rope_config.h"

namespace sinkd {
namespace {

constexpr int64_t kMaxBlocks = 1024;
constexpr int64_t kMaxWidth = int64_t{1} << 20;
constexpr int64_t kMaxHeads = 4096;
constexpr int64_t kMaxVocabulary = int64_t{1} << 24;
constexpr int64_t kMaxPositions = int64_t{1} << 30;

WeightNames GatedDecoderNames() {
  return {.embedding = "model.embed_tokens",
          .final_norm = "model.norm",
          .head = "lm_head",
          .block_prefix = "model.layers.",
          .block = {.attention_norm = "input_layernorm",
                    .q = "self_attn.q_proj",
                    .k = "self_attn.k_proj",
                    .v = "self_attn.v_proj",
                    .o = "self_attn.o_proj",
                    .q_norm = "self_attn.q_norm",
                    .k_norm = "self_attn.k_norm",
                    .mlp_norm = "post_attention_layernorm",
                    .gate = "mlp.gate_proj",
                    .up = "mlp.up_proj",
                    .down = "mlp.down_proj"}};
}

absl::Status ReadHeads(const ConfigReader& config, const GatedDecoderDefaults& defaults,
                       DecoderSpec& spec) {
  SINKD_ASSIGN_OR_RETURN(spec.heads, config.Size("num_attention_heads", kMaxHeads));
  const bool absent = !config.Has("num_key_value_heads");
  const int64_t kv_default = absent && defaults.kv_heads > 0 ? defaults.kv_heads : spec.heads;
  SINKD_ASSIGN_OR_RETURN(spec.kv_heads,
                         config.SizeOr("num_key_value_heads", kv_default, kMaxHeads));
  if (spec.heads % spec.kv_heads != 0) {
    return config.Error("num_key_value_heads",
                        StrCat("does not divide num_attention_heads ", spec.heads),
                        "restore config.json from the checkpoint's source");
  }
  SINKD_ASSIGN_OR_RETURN(spec.head_size, config.SizeOr("head_dim", defaults.head_size, kMaxWidth));
  if (spec.head_size == 0) {
    if (spec.hidden % spec.heads != 0) {
      return config.Error("num_attention_heads",
                          StrCat("does not divide hidden_size ", spec.hidden),
                          "set head_dim, or restore config.json from the checkpoint's source");
    }
    spec.head_size = spec.hidden / spec.heads;
  }
  if (spec.head_size % 2 != 0) {
    return config.Error("head_dim", StrCat("is odd: ", spec.head_size),
                        "rotary embedding needs an even head size");
  }
  return absl::OkStatus();
}

absl::Status ReadActivation(const ConfigReader& config, DecoderSpec& spec) {
  SINKD_ASSIGN_OR_RETURN(const std::string name, config.TextOr("hidden_act", "silu"));
  if (name != "silu" && name != "swish") {
    return config.Error("hidden_act", "is not an activation of this architecture", "use silu");
  }
  spec.activation = Activation::kSilu;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DecoderPlan> PlanGatedDecoder(const ConfigReader& config,
                                             const GatedDecoderDefaults& defaults) {
  DecoderPlan plan{.spec = {}, .names = GatedDecoderNames()};
  DecoderSpec& spec = plan.spec;
  SINKD_ASSIGN_OR_RETURN(spec.blocks, config.Size("num_hidden_layers", kMaxBlocks));
  SINKD_ASSIGN_OR_RETURN(spec.hidden, config.Size("hidden_size", kMaxWidth));
  SINKD_ASSIGN_OR_RETURN(spec.intermediate, config.Size("intermediate_size", kMaxWidth));
  SINKD_ASSIGN_OR_RETURN(spec.vocabulary, config.Size("vocab_size", kMaxVocabulary));
  SINKD_ASSIGN_OR_RETURN(spec.max_positions, config.SizeOr("max_position_embeddings",
                                                           defaults.max_positions, kMaxPositions));
  SINKD_RETURN_IF_ERROR(ReadHeads(config, defaults, spec));
  SINKD_RETURN_IF_ERROR(ReadActivation(config, spec));
  SINKD_ASSIGN_OR_RETURN(spec.norm_epsilon, config.NumberOr("rms_norm_eps", 1e-6));
  if (spec.norm_epsilon < 0 || spec.norm_epsilon > 1) {
    return config.Error("rms_norm_eps", "is not from 0 to 1",
                        "restore config.json from the checkpoint's source");
  }
  SINKD_ASSIGN_OR_RETURN(spec.tied_head, config.FlagOr("tie_word_embeddings", false));
  SINKD_ASSIGN_OR_RETURN(const std::string old_dtype, config.TextOr("torch_dtype", ""));
  SINKD_ASSIGN_OR_RETURN(spec.dtype, config.TextOr("dtype", old_dtype));
  SINKD_ASSIGN_OR_RETURN(spec.rope, ReadRope(config, spec.max_positions));
  spec.window.assign(static_cast<size_t>(spec.blocks), 0);
  return plan;
}

absl::Status ReadQwenWindows(const ConfigReader& config, DecoderSpec& spec) {
  SINKD_ASSIGN_OR_RETURN(const bool use, config.FlagOr("use_sliding_window", false));
  // null means no window; an absent key means the default of the config class.
  const int64_t unsaid = config.Has("sliding_window") ? 0 : 4096;
  SINKD_ASSIGN_OR_RETURN(const int64_t window,
                         config.SizeOr("sliding_window", unsaid, kMaxPositions));
  if (!use || window == 0) return absl::OkStatus();
  SINKD_ASSIGN_OR_RETURN(const std::vector<std::string> types, config.TextList("layer_types"));
  SINKD_ASSIGN_OR_RETURN(const double first, config.NumberOr("max_window_layers", 28));
  if (!types.empty() && types.size() != spec.window.size()) {
    return config.Error("layer_types", StrCat("does not name ", spec.blocks, " blocks"),
                        "list one type per block");
  }
  for (size_t l = 0; l < spec.window.size(); ++l) {
    const bool slides =
        types.empty() ? static_cast<double>(l) >= first : types[l] == "sliding_attention";
    spec.window[l] = slides ? window : 0;
  }
  return absl::OkStatus();
}

}  // namespace sinkd
