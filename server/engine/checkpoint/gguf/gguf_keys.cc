#include "server/engine/checkpoint/gguf/gguf_keys.h"

#include <algorithm>
#include <map>

namespace sinkd {
namespace {

using As = GgufKey::As;

constexpr int64_t kSoftmax = 1, kSigmoid = 2;  // expert_gating_func

constexpr GgufKey kMixtral[] = {
    {.key = "expert_count", .name = "num_local_experts", .required = true},
    {.key = "expert_used_count", .name = "num_experts_per_tok", .required = true}};

constexpr GgufKey kQwenMoe[] = {
    {.key = "expert_count", .name = "num_experts", .required = true},
    {.key = "expert_used_count", .name = "num_experts_per_tok", .required = true},
    {.key = "expert_feed_forward_length", .name = "moe_intermediate_size", .required = true},
    {.key = "expert_shared_feed_forward_length", .name = "shared_expert_intermediate_size"}};

constexpr GgufKey kOlmoe[] = {
    {.key = "expert_count", .name = "num_experts", .required = true},
    {.key = "expert_used_count", .name = "num_experts_per_tok", .required = true},
    {.key = "attention.clamp_kqv", .name = "clip_qkv", .as = As::kNumber}};

constexpr GgufKey kHunyuanMoe[] = {
    {.key = "expert_count", .name = "num_experts", .required = true},
    {.key = "expert_used_count", .name = "moe_topk", .required = true}};

// DeepSeek's router and those after it.
constexpr GgufKey kRouted[] = {
    {.key = "expert_count", .name = "n_routed_experts", .required = true},
    {.key = "expert_used_count", .name = "num_experts_per_tok", .required = true},
    {.key = "expert_feed_forward_length", .name = "moe_intermediate_size", .required = true},
    {.key = "expert_shared_count", .name = "n_shared_experts", .required = true},
    {.key = "leading_dense_block_count", .name = "first_k_dense_replace", .required = true},
    {.key = "expert_weights_scale", .name = "routed_scaling_factor", .as = As::kNumber},
    {.key = "expert_weights_norm", .name = "norm_topk_prob", .as = As::kFlag},
    {.key = "expert_group_count", .name = "n_group"},
    {.key = "expert_group_used_count", .name = "topk_group"}};

constexpr GgufKey kErnieMoe[] = {
    {.key = "expert_count", .name = "moe_num_experts", .required = true},
    {.key = "expert_used_count", .name = "moe_k", .required = true},
    {.key = "expert_feed_forward_length", .name = "moe_intermediate_size", .required = true},
    {.key = "expert_shared_count", .name = "moe_num_shared_experts"},
    {.key = "leading_dense_block_count", .name = "moe_layer_start_index", .required = true},
    {.key = "interleave_moe_layer_step", .name = "moe_layer_interval", .required = true}};

constexpr GgufKey kLfm2[] = {
    {.key = "shortconv.l_cache", .name = "conv_L_cache", .required = true}};

constexpr GgufKey kLfm2Moe[] = {
    {.key = "shortconv.l_cache", .name = "conv_L_cache", .required = true},
    {.key = "expert_count", .name = "num_experts", .required = true},
    {.key = "expert_used_count", .name = "num_experts_per_tok", .required = true},
    {.key = "expert_feed_forward_length", .name = "moe_intermediate_size", .required = true},
    {.key = "leading_dense_block_count", .name = "num_dense_layers", .required = true},
    {.key = "expert_weights_scale", .name = "routed_scaling_factor", .as = As::kNumber},
    {.key = "expert_weights_norm", .name = "norm_topk_prob", .as = As::kFlag}};

constexpr GgufKey kWindow[] = {
    {.key = "attention.sliding_window", .name = "sliding_window", .required = true}};

constexpr GgufKey kMaybeWindow[] = {{.key = "attention.sliding_window", .name = "sliding_window"}};

constexpr GgufKey kGptOss[] = {
    {.key = "attention.sliding_window", .name = "sliding_window", .required = true},
    {.key = "expert_count", .name = "num_local_experts", .required = true},
    {.key = "expert_used_count", .name = "num_experts_per_tok", .required = true}};

constexpr GgufKey kGemma2[] = {
    {.key = "attention.sliding_window", .name = "sliding_window", .required = true},
    {.key = "attn_logit_softcapping",
     .name = "attn_logit_softcapping",
     .as = As::kNumber,
     .required = true},
    {.key = "final_logit_softcapping",
     .name = "final_logit_softcapping",
     .as = As::kNumber,
     .required = true}};

constexpr GgufKey kCohere[] = {
    {.key = "logit_scale", .name = "logit_scale", .as = As::kNumber, .required = true}};

constexpr GgufKey kCohere2[] = {
    {.key = "logit_scale", .name = "logit_scale", .as = As::kNumber, .required = true},
    {.key = "attention.sliding_window", .name = "sliding_window", .required = true}};

constexpr GgufKey kOlmo[] = {{.key = "attention.clamp_kqv", .name = "clip_qkv", .as = As::kNumber}};

constexpr GgufKey kStableLm[] = {
    {.key = "use_parallel_residual", .name = "use_parallel_residual", .as = As::kFlag}};

constexpr GgufKey kGranite[] = {
    {.key = "attention.scale", .name = "attention_multiplier", .as = As::kNumber, .required = true},
    {.key = "embedding_scale", .name = "embedding_multiplier", .as = As::kNumber, .required = true},
    {.key = "residual_scale", .name = "residual_multiplier", .as = As::kNumber, .required = true},
    {.key = "logit_scale", .name = "logits_scaling", .as = As::kNumber, .required = true},
    // Of its mixtures.
    {.key = "expert_count", .name = "num_local_experts"},
    {.key = "expert_used_count", .name = "num_experts_per_tok"},
    {.key = "expert_shared_feed_forward_length", .name = "shared_intermediate_size"}};

constexpr GgufFlag kAttentionBias[] = {{"attention_bias", ".attn_q.bias"}};
constexpr GgufFlag kBiases[] = {{"attention_bias", ".attn_q.bias"}, {"mlp_bias", ".ffn_up.bias"}};
constexpr GgufFlag kCohereFlags[] = {{"attention_bias", ".attn_q.bias"},
                                     {"use_qk_norm", ".attn_q_norm.weight"}};
constexpr GgufFlag kErnie[] = {{"use_bias", ".attn_q.bias"}};
constexpr GgufFlag kGlm4Moe[] = {{"attention_bias", ".attn_q.bias"},
                                 {"use_qk_norm", ".attn_q_norm.weight"}};
constexpr GgufFlag kPhiMoe[] = {{"attention_bias", ".attn_q.bias"},
                                {"lm_head_bias", "output.bias"}};
constexpr GgufFlag kStableLmFlags[] = {{"use_qkv_bias", ".attn_q.bias"},
                                       {"qk_layernorm", ".attn_q_norm.weight"}};
constexpr GgufFlag kSeedOss[] = {{"attention_bias", ".attn_q.bias"},
                                 {"attention_out_bias", ".attn_output.bias"},
                                 {"mlp_bias", ".ffn_up.bias"}};
constexpr GgufFlag kExpertBias[] = {{"use_expert_bias", ".exp_probs_b.bias"}};

constexpr GgufFlag kGptNeox[] = {{"attention_bias", ".attn_qkv.bias"}};

constexpr GgufKey kMpt[] = {
    {.key = "attention.max_alibi_bias", .name = "alibi_bias_max", .as = As::kNumber},
    {.key = "attention.clamp_kqv", .name = "clip_qkv", .as = As::kNumber}};

// Models without rotary, all of whose sizes but the context follow from others.
constexpr GgufRename kAlibi[] = {{"intermediate_size", ""},
                                 {"num_key_value_heads", ""},
                                 {"head_dim", ""},
                                 {"rope_theta", ""},
                                 {"rope_scaling", ""},
                                 {"hidden_act", ""},
                                 {"max_position_embeddings", ""}};
constexpr GgufRename kMptNames[] = {{"intermediate_size", ""},
                                    {"num_key_value_heads", ""},
                                    {"head_dim", ""},
                                    {"rope_theta", ""},
                                    {"rope_scaling", ""},
                                    {"hidden_act", ""},
                                    {"max_position_embeddings", "max_seq_len"}};
constexpr GgufRename kGpt[] = {{"intermediate_size", "n_inner"},
                               {"num_key_value_heads", ""},
                               {"head_dim", ""},
                               {"rope_theta", ""},
                               {"rope_scaling", ""},
                               {"hidden_act", "activation_function"}};
constexpr GgufRename kNeox[] = {{"num_key_value_heads", ""}};

constexpr char kGptNorm[] = "layer_norm_epsilon";
constexpr char kHalf[] = "partial_rotary_factor";
constexpr char kLayerNormEps[] = "layer_norm_eps";

}  // namespace

const GgufTypeKeys& GgufKeysOf(std::string_view model_type) {
  static const GgufTypeKeys kOthers;
  static const std::map<std::string_view, GgufTypeKeys> kTypes = {
      {"arcee", {.activation = "relu2", .flags = kBiases}},
      {"bloom", {.norm_epsilon = kGptNorm, .layer_norm = true, .renames = kAlibi}},
      {"cohere",
       {.norm_epsilon = kLayerNormEps, .layer_norm = true, .keys = kCohere, .flags = kCohereFlags}},
      {"cohere2",
       {.norm_epsilon = kLayerNormEps,
        .layer_norm = true,
        .keys = kCohere2,
        .flags = kAttentionBias}},
      {"deepseek_v2", {.gating = kSoftmax, .keys = kRouted}},
      {"deepseek_v3", {.gating = kSigmoid, .keys = kRouted}},
      {"dots1", {.gating = kSigmoid, .keys = kRouted, .flags = kAttentionBias}},
      {"ernie4_5", {.flags = kErnie}},
      {"ernie4_5_moe", {.gating = kSoftmax, .keys = kErnieMoe, .flags = kErnie}},
      {"exaone4", {.keys = kMaybeWindow}},
      {"gemma", {.activation = "gelu_pytorch_tanh"}},
      {"gemma2", {.activation = "", .keys = kGemma2}},
      {"gemma3_text", {.activation = "", .keys = kWindow}},
      {"glm4", {.partial_rotary = kHalf, .flags = kAttentionBias}},
      {"glm4_moe",
       {.partial_rotary = kHalf, .gating = kSigmoid, .keys = kRouted, .flags = kGlm4Moe}},
      {"gpt2",
       {.activation = "gelu_new", .norm_epsilon = kGptNorm, .layer_norm = true, .renames = kGpt}},
      {"gpt_bigcode",
       {.activation = "gelu_pytorch_tanh",
        .norm_epsilon = kGptNorm,
        .layer_norm = true,
        .renames = kGpt}},
      {"gpt_neox",
       {.activation = "gelu",
        .norm_epsilon = kLayerNormEps,
        .layer_norm = true,
        .partial_rotary = "rotary_pct",
        .keys = kStableLm,
        .flags = kGptNeox,
        .renames = kNeox}},
      {"gpt_oss", {.keys = kGptOss, .flags = kAttentionBias}},
      {"granite", {.keys = kGranite, .flags = kBiases}},
      {"granitemoe", {.gating = kSoftmax, .keys = kGranite, .flags = kAttentionBias}},
      {"granitemoeshared", {.gating = kSoftmax, .keys = kGranite, .flags = kAttentionBias}},
      {"hunyuan_v1_dense", {.flags = kAttentionBias}},
      {"hunyuan_v1_moe", {.gating = kSoftmax, .keys = kHunyuanMoe, .flags = kAttentionBias}},
      {"lfm2", {.activation = "", .norm_epsilon = "norm_eps", .keys = kLfm2}},
      {"lfm2_moe",
       {.activation = "",
        .norm_epsilon = "norm_eps",
        .gating = kSigmoid,
        .keys = kLfm2Moe,
        .flags = kExpertBias}},
      {"llama", {.flags = kBiases}},
      {"minimax_m2", {.rotary_channels = "rotary_dim", .gating = kSigmoid, .keys = kMixtral}},
      {"mixtral", {.gating = kSoftmax, .keys = kMixtral}},
      {"mpt", {.norm_epsilon = kGptNorm, .layer_norm = true, .keys = kMpt, .renames = kMptNames}},
      {"nemotron",
       {.activation = "relu2",
        .norm_epsilon = "norm_eps",
        .layer_norm = true,
        .partial_rotary = kHalf,
        .flags = kBiases}},
      {"olmo", {.norm_epsilon = "", .layer_norm = true, .keys = kOlmo, .flags = kAttentionBias}},
      {"olmo3", {.keys = kWindow, .flags = kAttentionBias}},
      {"olmoe", {.gating = kSoftmax, .keys = kOlmoe, .flags = kAttentionBias}},
      {"phi",
       {.activation = "gelu_new",
        .norm_epsilon = kLayerNormEps,
        .layer_norm = true,
        .partial_rotary = kHalf}},
      {"phi3", {.partial_rotary = kHalf, .keys = kMaybeWindow}},
      {"phimoe", {.keys = kMixtral, .flags = kPhiMoe}},
      {"qwen2_moe", {.gating = kSoftmax, .keys = kQwenMoe}},
      {"qwen3", {.flags = kAttentionBias}},
      {"qwen3_moe", {.gating = kSoftmax, .keys = kQwenMoe}},
      {"seed_oss", {.flags = kSeedOss}},
      {"smollm3", {.flags = kBiases}},
      {"stablelm",
       {.norm_epsilon = kLayerNormEps,
        .layer_norm = true,
        .partial_rotary = kHalf,
        .keys = kStableLm,
        .flags = kStableLmFlags}},
      {"starcoder2",
       {.activation = "gelu_pytorch_tanh", .norm_epsilon = "norm_epsilon", .layer_norm = true}}};
  const auto found = kTypes.find(model_type);
  return found == kTypes.end() ? kOthers : found->second;
}

const GgufKey* FindGgufKey(std::string_view model_type, std::string_view key) {
  const std::span<const GgufKey> keys = GgufKeysOf(model_type).keys;
  const auto found =
      std::find_if(keys.begin(), keys.end(), [key](const GgufKey& own) { return own.key == key; });
  return found == keys.end() ? nullptr : &*found;
}

}  // namespace sinkd
