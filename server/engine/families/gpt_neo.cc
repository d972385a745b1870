// gpt_neo: GPT-Neo. Scores that are not scaled, windows in some blocks, learned positions.
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/gpt_decoder.h"

namespace sinkd {
namespace {

// "global" or "local" for each block: attention_layers, or the repeated lists of attention_types.
absl::Status ReadKinds(const ConfigReader& config, int64_t window, DecoderSpec& spec) {
  const char* key = config.HasValue("attention_layers") ? "attention_layers" : "attention_types";
  SINKD_ASSIGN_OR_RETURN(std::vector<std::string> kinds, config.TextList("attention_layers"));
  SINKD_ASSIGN_OR_RETURN(const std::vector<std::string> repeated,
                         config.RepeatedTexts("attention_types", kMaxBlocks));
  if (kinds.empty()) kinds = repeated;
  if (!repeated.empty() && kinds != repeated) {
    return config.Error("attention_layers", "differs from attention_types, which means the same",
                        "remove the wrong one");
  }
  if (kinds.empty()) {
    for (int64_t l = 0; l < 24; ++l) kinds.push_back(l % 2 == 0 ? "global" : "local");
  }
  if (static_cast<int64_t>(kinds.size()) != spec.blocks) {
    return config.Error(key, StrCat("does not name ", spec.blocks, " blocks"),
                        "list one kind per block");
  }
  for (size_t l = 0; l < kinds.size(); ++l) {
    if (kinds[l] != "global" && kinds[l] != "local") {
      return config.Error(key, StrCat("names ", Shorten(kinds[l]), ", which is not a kind of it"),
                          "use global or local");
    }
    spec.window[l] = kinds[l] == "local" ? window : 0;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DecoderPlan> PlanGptNeo(const ConfigReader& config) {
  DecoderPlan plan;
  SizeKeys keys{.intermediate_per_hidden = 4};
  SINKD_ASSIGN_OR_RETURN(keys.blocks, EitherKey(config, "num_layers", "num_hidden_layers"));
  SINKD_ASSIGN_OR_RETURN(keys.heads, EitherKey(config, "num_heads", "num_attention_heads"));
  SINKD_ASSIGN_OR_RETURN(plan.spec, ReadSizes(config, keys, 2048, true));
  DecoderSpec& spec = plan.spec;
  SINKD_RETURN_IF_ERROR(CheckHeadsDivide(config, keys, spec));
  SINKD_RETURN_IF_ERROR(ReadNormEpsilon(config, "layer_norm_epsilon", 1e-5, spec));
  SINKD_RETURN_IF_ERROR(ReadActivation(config, "activation_function", "gelu_new", spec));
  SINKD_ASSIGN_OR_RETURN(const int64_t window, config.SizeOr("window_size", 256, kMaxPositions));
  SINKD_RETURN_IF_ERROR(ReadKinds(config, window, spec));
  spec.score_scale.assign(spec.score_scale.size(), 1.0);
  spec.learned_positions = spec.max_positions;
  spec.norm = NormKind::kLayer;
  spec.output_bias = spec.mlp_bias = true;
  NameGptTensors("mlp.c_fc", "mlp.c_proj", plan);
  WeightNames& names = plan.names;
  names.block.q = "attn.attention.q_proj";
  names.block.k = "attn.attention.k_proj";
  names.block.v = "attn.attention.v_proj";
  names.block.o = "attn.attention.out_proj";
  return plan;
}

}  // namespace sinkd
