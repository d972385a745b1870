// gemma4_text: Gemma 4. As gemma3 with plain norms, heads of two
// shapes, norms of values, keys and values that later blocks read too, a further input of each
// block from its token, and experts beside the MLP.
#include <algorithm>
#include <cmath>

#include <absl/strings/numbers.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/gated_decoder.h"

namespace sinkd {
namespace {

constexpr char kRestore[] = "restore config.json from the checkpoint's source";
constexpr char kOfBlocks[] = "per_layer_config";

absl::Status ReadWindowsOf(const ConfigReader& config, DecoderSpec& spec) {
  SINKD_ASSIGN_OR_RETURN(const int64_t window, ReadWindow(config, 512));
  const int64_t last = spec.blocks - 1;
  SINKD_RETURN_IF_ERROR(ReadWindows(
      config, window, [last](int64_t block) { return (block + 1) % 6 != 0 && block != last; },
      spec));
  if (spec.window.back() == 0) return absl::OkStatus();
  return config.Error("layer_types", "ends with a block that slides",
                      "name the last block full_attention, as transformers takes it");
}

// Heads of the blocks that see everything, where no key gives those of each block.
absl::Status ReadGlobalHeads(const ConfigReader& config, bool keys_as_values, DecoderSpec& spec) {
  HeadShape global = spec.HeadsOf(0);
  SINKD_ASSIGN_OR_RETURN(global.head_size, config.SizeOr("global_head_dim", 512, kMaxWidth));
  SINKD_ASSIGN_OR_RETURN(const int64_t kv_heads,
                         config.SizeOr("num_global_key_value_heads", global.kv_heads, kMaxHeads));
  if (keys_as_values) global.kv_heads = kv_heads;
  global.value_size = global.head_size;
  const HeadShape sliding = spec.HeadsOf(0);
  for (const int64_t window : spec.window) {
    spec.head_shapes.push_back(window > 0 ? sliding : global);
  }
  return absl::OkStatus();
}

// Heads as transformers writes them, {"5": {"head_dim": 512}, ...}.
absl::Status ReadHeadsOfBlocks(const ConfigReader& config, DecoderSpec& spec) {
  config.PassOver({"global_head_dim", "num_global_key_value_heads"});
  const ConfigReader blocks = config.Object(kOfBlocks);
  spec.head_shapes.assign(spec.window.size(), spec.HeadsOf(0));
  for (const std::string& number : blocks.Keys()) {
    size_t block = 0;
    if (!absl::SimpleAtoi(number, &block) || block >= spec.window.size()) {
      return blocks.Error(number, "is no block of the model", kRestore);
    }
    const ConfigReader own = blocks.Object(number);
    HeadShape& heads = spec.head_shapes[block];
    SINKD_ASSIGN_OR_RETURN(heads.head_size, own.SizeOr("head_dim", heads.head_size, kMaxWidth));
    SINKD_ASSIGN_OR_RETURN(heads.kv_heads,
                           own.SizeOr("num_key_value_heads", heads.kv_heads, kMaxHeads));
    heads.value_size = heads.head_size;
    for (const std::string& key : own.Keys()) {
      if (key == "head_dim" || key == "num_key_value_heads") continue;
      return own.Error(key, "is a setting of one block, which is not computed", kRestore);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckHeads(const ConfigReader& config, const DecoderSpec& spec) {
  const HeadShape* of_type[2] = {nullptr, nullptr};  // of blocks that see everything, that slide
  for (size_t l = 0; l < spec.head_shapes.size(); ++l) {
    const HeadShape& heads = spec.head_shapes[l];
    if (spec.heads % heads.kv_heads != 0) {
      return config.Error(
          "num_attention_heads",
          StrCat("is no multiple of the ", heads.kv_heads, " key heads of block ", l), kRestore);
    }
    const HeadShape*& first = of_type[spec.window[l] > 0 ? 1 : 0];
    if (first == nullptr) first = &heads;
    if (first->head_size == heads.head_size && first->kv_heads == heads.kv_heads) continue;
    return config.Error(
        kOfBlocks, StrCat("gives block ", l, " other heads than blocks of its type"), kRestore);
  }
  return absl::OkStatus();
}

absl::Status ReadHeadShapes(const ConfigReader& config, DecoderSpec& spec) {
  SINKD_ASSIGN_OR_RETURN(const bool keys_as_values, config.FlagOr("attention_k_eq_v", false));
  for (const int64_t window : spec.window) {
    spec.keys_as_values.push_back(keys_as_values && window == 0);
  }
  SINKD_RETURN_IF_ERROR(config.Has(kOfBlocks) ? ReadHeadsOfBlocks(config, spec)
                                              : ReadGlobalHeads(config, keys_as_values, spec));
  return CheckHeads(config, spec);
}

// The last blocks read the keys and values of the last one before them that has their type.
absl::Status ReadSharing(const ConfigReader& config, DecoderSpec& spec) {
  constexpr char kKey[] = "num_kv_shared_layers";
  SINKD_ASSIGN_OR_RETURN(const int64_t sharing, ReadCount(config, kKey, 0, spec.blocks - 1));
  SINKD_ASSIGN_OR_RETURN(const bool wide, config.FlagOr("use_double_wide_mlp", false));
  if (sharing == 0) return absl::OkStatus();
  const int64_t first = spec.blocks - sharing;
  int64_t last_of_type[2] = {-1, -1};
  for (int64_t l = 0; l < spec.blocks; ++l) {
    int64_t& of_type = last_of_type[spec.window[static_cast<size_t>(l)] > 0 ? 1 : 0];
    if (l < first) of_type = l;
    if (of_type < 0) {
      return config.Error(kKey, StrCat("leaves block ", l, " none whose keys it could read"),
                          kRestore);
    }
    spec.keys_of.push_back(of_type);
    spec.intermediates.push_back(wide && l >= first ? 2 * spec.intermediate : spec.intermediate);
  }
  spec.intermediate = spec.intermediates.back();
  return absl::OkStatus();
}

absl::Status ReadTokenInputs(const ConfigReader& config, DecoderPlan& plan) {
  TokenInputSpec& inputs = plan.spec.token_inputs;
  SINKD_ASSIGN_OR_RETURN(inputs.width,
                         ReadCount(config, "hidden_size_per_layer_input", 256, kMaxWidth));
  SINKD_ASSIGN_OR_RETURN(inputs.vocabulary,
                         config.SizeOr("vocab_size_per_layer_input", 262144, kMaxVocabulary));
  plan.names.token_inputs = "model.embed_tokens_per_layer";
  plan.names.token_projection = "model.per_layer_model_projection";
  plan.names.token_norm = "model.per_layer_projection_norm";
  BlockWeightNames& names = plan.names.block;
  names.token_gate = "per_layer_input_gate";
  names.token_output = "per_layer_projection";
  names.token_norm = "post_per_layer_input_norm";
  if (inputs.width == 0 || inputs.vocabulary >= plan.spec.vocabulary) return absl::OkStatus();
  return config.Error("vocab_size_per_layer_input", "is under vocab_size", kRestore);
}

absl::Status ReadMixture(const ConfigReader& config, DecoderPlan& plan) {
  SINKD_ASSIGN_OR_RETURN(const bool mixture, config.FlagOr("enable_moe_block", false));
  if (!mixture) {
    config.PassOver({"num_experts", "top_k_experts", "moe_intermediate_size"});
    return absl::OkStatus();
  }
  ExpertSpec& experts = plan.spec.experts;
  SINKD_ASSIGN_OR_RETURN(experts.count, config.Size("num_experts", kMaxExperts));
  SINKD_ASSIGN_OR_RETURN(experts.per_token, config.Size("top_k_experts", experts.count));
  SINKD_ASSIGN_OR_RETURN(experts.intermediate, config.Size("moe_intermediate_size", kMaxWidth));
  experts.beside_mlp = true;
  experts.in_block.assign(plan.spec.window.size(), true);
  BlockWeightNames& names = plan.names.block;
  names.router = "router.proj";
  names.router_scale = "router.scale";
  names.expert_scale = "router.per_expert_scale";
  names.dense_norm = "post_feedforward_layernorm_1";
  names.expert_norm = "pre_feedforward_layernorm_2";
  names.expert_output_norm = "post_feedforward_layernorm_2";
  names.stacked_gate_up = "experts.gate_up_proj";
  names.stacked_down = "experts.down_proj";
  return absl::OkStatus();
}

void NameNorms(DecoderPlan& plan) {
  plan.spec.output_norms = true;
  plan.spec.block_scale = true;
  BlockWeightNames& names = plan.names.block;
  names.attention_output_norm = "post_attention_layernorm";
  names.mlp_norm = "pre_feedforward_layernorm";
  names.mlp_output_norm = "post_feedforward_layernorm";
  names.block_scale = "layer_scalar";
}

}  // namespace

absl::StatusOr<DecoderPlan> PlanGemma4(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan,
                         PlanGatedDecoder(config, {.heads = 8,
                                                   .vocabulary = 262144,
                                                   .kv_heads = 4,
                                                   .head_size = 256,
                                                   .max_positions = 131072,
                                                   .rope_theta = 0,
                                                   .tied = true,
                                                   .activation_key = "hidden_activation",
                                                   .activation = "gelu_pytorch_tanh"}));
  DecoderSpec& spec = plan.spec;
  SINKD_RETURN_IF_ERROR(ReadAttentionBias(config, spec));
  SINKD_RETURN_IF_ERROR(ReadWindowsOf(config, spec));
  SINKD_RETURN_IF_ERROR(ReadHeadShapes(config, spec));
  SINKD_RETURN_IF_ERROR(ReadSharing(config, spec));
  SINKD_RETURN_IF_ERROR(ReadTokenInputs(config, plan));
  SINKD_RETURN_IF_ERROR(ReadMixture(config, plan));
  NameNorms(plan);
  if (config.HasValue("final_logit_softcapping")) {
    SINKD_RETURN_IF_ERROR(ReadPositive(config, "final_logit_softcapping", 0, spec.logit_cap));
  }
  spec.embedding_scale = std::sqrt(static_cast<double>(spec.hidden));
  spec.score_scale.assign(spec.score_scale.size(), 1.0);
  spec.head_norms = HeadNorms::kPerHead;
  spec.value_norms = true;
  const auto sees_all = std::find(spec.window.begin(), spec.window.end(), 0);
  const HeadShape& global = spec.head_shapes[static_cast<size_t>(sees_all - spec.window.begin())];
  const RopeDefaults full{
      .head_size = global.head_size,
      .theta = 1e6,
      .scaling_absent =
          R"({"full_attention":{"rope_type":"proportional","partial_rotary_factor":0.25,)"
          R"("rope_theta":1000000.0},"sliding_attention":{"rope_type":"default"}})"};
  RopeDefaults sliding = full;
  sliding.head_size = spec.head_size;
  sliding.theta = 10000;
  return RotateByLayerType(config, full, sliding, std::move(plan));
}

}  // namespace sinkd
