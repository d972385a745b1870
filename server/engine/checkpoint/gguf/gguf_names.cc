#include "server/engine/checkpoint/gguf/gguf_names.h"

#include <algorithm>
#include <map>

#include <absl/strings/ascii.h>

#include "server/base/str_cat.h"

namespace sinkd {
namespace {

using Names = std::map<std::string_view, std::string_view>;

// "blk.12." -> ("12", what follows); empty for another form, "blk.012." included.
struct BlockName {
  std::string_view block;
  std::string_view rest;
};

BlockName SplitBlock(std::string_view name) {
  constexpr std::string_view kPrefix = "blk.";
  if (name.substr(0, kPrefix.size()) != kPrefix) return {};
  name.remove_prefix(kPrefix.size());
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos || dot == 0) return {};
  const std::string_view block = name.substr(0, dot);
  if (!std::all_of(block.begin(), block.end(), absl::ascii_isdigit)) return {};
  if (block.size() > 1 && block[0] == '0') return {};
  return {block, name.substr(dot + 1)};
}

GgufRows RowsOf(std::string_view part) {
  if (part == "attn_q") return GgufRows::kQueryHeads;
  if (part == "attn_k") return GgufRows::kKeyHeads;
  return GgufRows::kAsTheyAre;
}

Names Both(Names first, const Names& second) {
  first.insert(second.begin(), second.end());
  return first;
}

// The tensors that a model type names in another way than llama. After "=" stands a whole name, to
// which ".weight" is not added, and ".bias" as "_bias".
struct OwnNames {
  Names block;
  Names model;
  std::string_view blocks = "model.layers.";
};

Names Experts(std::string_view gate, std::string_view up, std::string_view down) {
  return {{"ffn_gate_exps", gate}, {"ffn_up_exps", up}, {"ffn_down_exps", down}};
}

const OwnNames& OwnNamesOf(std::string_view model_type) {
  static const OwnNames kNone;
  static const Names kSecondNorm = {{"post_attention_norm", "post_attention_layernorm"}};
  static const Names kNormsAround = {{"post_attention_norm", "post_attention_layernorm"},
                                     {"ffn_norm", "pre_feedforward_layernorm"},
                                     {"post_ffw_norm", "post_feedforward_layernorm"}};
  static const Names kMixture = Both(
      Experts("mlp.experts.{}.gate_proj", "mlp.experts.{}.up_proj", "mlp.experts.{}.down_proj"),
      {{"ffn_gate_inp", "mlp.gate"},
       {"ffn_gate_inp_shexp", "mlp.shared_expert_gate"},
       {"ffn_gate_shexp", "mlp.shared_expert.gate_proj"},
       {"ffn_up_shexp", "mlp.shared_expert.up_proj"},
       {"ffn_down_shexp", "mlp.shared_expert.down_proj"}});
  // DeepSeek's names; with "exp_probs_b" of older files.
  static const Names kRouted = Both({{"ffn_gate_shexp", "mlp.shared_experts.gate_proj"},
                                     {"ffn_up_shexp", "mlp.shared_experts.up_proj"},
                                     {"ffn_down_shexp", "mlp.shared_experts.down_proj"},
                                     {"exp_probs_b", "=mlp.gate.e_score_correction_bias"}},
                                    kMixture);
  static const Names kLatent = {{"attn_q_a", "self_attn.q_a_proj"},
                                {"attn_q_a_norm", "self_attn.q_a_layernorm"},
                                {"attn_q_b", "self_attn.q_b_proj"},
                                {"attn_kv_a_mqa", "self_attn.kv_a_proj_with_mqa"},
                                {"attn_kv_a_norm", "self_attn.kv_a_layernorm"},
                                {"attn_kv_b", "self_attn.kv_b_proj"},
                                {"attn_k_b", "self_attn.kv_b_proj"},
                                {"attn_v_b", "self_attn.kv_b_proj"}};
  static const Names kBlockSparse =
      Both(Experts("block_sparse_moe.experts.{}.w1", "block_sparse_moe.experts.{}.w3",
                   "block_sparse_moe.experts.{}.w2"),
           {{"ffn_gate_inp", "block_sparse_moe.gate"},
            {"exp_probs_b", "=block_sparse_moe.e_score_correction_bias"}});
  static const Names kGraniteMoe = {{"ffn_gate_inp", "block_sparse_moe.router.layer"},
                                    {"ffn_gate_exps", "block_sparse_moe.input_linear"},
                                    {"ffn_up_exps", "block_sparse_moe.input_linear"},
                                    {"ffn_down_exps", "block_sparse_moe.output_linear"},
                                    {"ffn_gate_shexp", "shared_mlp.input_linear"},
                                    {"ffn_up_shexp", "shared_mlp.input_linear"},
                                    {"ffn_down_shexp", "shared_mlp.output_linear"}};
  static const Names kLfm2 = {
      {"attn_norm", "operator_norm"},           {"ffn_norm", "ffn_norm"},
      {"attn_output", "self_attn.out_proj"},    {"attn_q_norm", "self_attn.q_layernorm"},
      {"attn_k_norm", "self_attn.k_layernorm"}, {"shortconv.conv", "conv.conv"},
      {"shortconv.in_proj", "conv.in_proj"},    {"shortconv.out_proj", "conv.out_proj"},
      {"ffn_gate", "feed_forward.w1"},          {"ffn_up", "feed_forward.w3"},
      {"ffn_down", "feed_forward.w2"}};
  static const Names kLfm2Model = {{"token_embd_norm", "model.embedding_norm"},
                                   {"output_norm", "model.embedding_norm"}};
  static const Names kHunyuan = {{"attn_q_norm", "self_attn.query_layernorm"},
                                 {"attn_k_norm", "self_attn.key_layernorm"}};
  static const Names kNeox = {{"attn_output", "self_attention.dense"},
                              {"attn_qkv", "self_attention.query_key_value"},
                              {"ffn_up", "mlp.dense_h_to_4h"},
                              {"ffn_down", "mlp.dense_4h_to_h"}};
  static const OwnNames kGpt = {.block = {{"attn_norm", "ln_1"},
                                          {"attn_qkv", "attn.c_attn"},
                                          {"attn_output", "attn.c_proj"},
                                          {"ffn_norm", "ln_2"},
                                          {"ffn_up", "mlp.c_fc"},
                                          {"ffn_down", "mlp.c_proj"}},
                                .model = {{"token_embd", "transformer.wte"},
                                          {"position_embd", "transformer.wpe"},
                                          {"output_norm", "transformer.ln_f"}},
                                .blocks = "transformer.h."};
  static const std::map<std::string_view, OwnNames> kOwn = {
      {"bloom",
       {.block = kNeox,
        .model = {{"token_embd", "transformer.word_embeddings"},
                  {"token_embd_norm", "transformer.word_embeddings_layernorm"},
                  {"output_norm", "transformer.ln_f"}},
        .blocks = "transformer.h."}},
      {"gpt2", kGpt},
      {"gpt_bigcode", kGpt},
      {"gpt_neox",
       {.block = Both(
            {{"attn_output", "attention.dense"}, {"attn_qkv", "attention.query_key_value"}}, kNeox),
        .model = {{"token_embd", "gpt_neox.embed_in"},
                  {"output_norm", "gpt_neox.final_layer_norm"},
                  {"output", "embed_out"}},
        .blocks = "gpt_neox.layers."}},
      {"mpt",
       {.block = {{"attn_norm", "norm_1"},
                  {"attn_qkv", "attn.Wqkv"},
                  {"attn_output", "attn.out_proj"},
                  {"ffn_norm", "norm_2"},
                  {"ffn_up", "ffn.up_proj"},
                  {"ffn_down", "ffn.down_proj"}},
        .model = {{"token_embd", "transformer.wte"}, {"output_norm", "transformer.norm_f"}},
        .blocks = "transformer.blocks."}},
      {"deepseek_v2", {.block = Both(kRouted, kLatent)}},
      {"deepseek_v3", {.block = Both(kRouted, kLatent)}},
      {"dots1", {.block = kRouted}},
      {"ernie4_5_moe",
       {.block = Both({{"exp_probs_b", "=mlp.moe_statics.e_score_correction_bias"}}, kRouted)}},
      {"exaone4", {.block = kNormsAround}},
      {"gemma2", {.block = kNormsAround}},
      {"gemma3_text", {.block = kNormsAround}},
      {"glm4",
       {.block = {{"post_attention_norm", "post_self_attn_layernorm"},
                  {"post_ffw_norm", "post_mlp_layernorm"},
                  {"ffn_up", "mlp.gate_up_proj"}}}},
      {"glm4_moe", {.block = Both(kSecondNorm, kRouted)}},
      {"gpt_oss",
       {.block = Both(kSecondNorm, {{"attn_sinks", "=self_attn.sinks"},
                                    {"ffn_gate_inp", "mlp.router"},
                                    {"ffn_gate_exps", "=mlp.experts.gate_up_proj"},
                                    {"ffn_up_exps", "=mlp.experts.gate_up_proj"},
                                    {"ffn_down_exps", "=mlp.experts.down_proj"}})}},
      {"granitemoe", {.block = kGraniteMoe}},
      {"granitemoeshared", {.block = kGraniteMoe}},
      {"hunyuan_v1_dense", {.block = kHunyuan}},
      {"hunyuan_v1_moe",
       {.block = Both(Both({{"ffn_gate_inp", "mlp.gate.wg"},
                            {"ffn_gate_shexp", "mlp.shared_mlp.gate_proj"},
                            {"ffn_up_shexp", "mlp.shared_mlp.up_proj"},
                            {"ffn_down_shexp", "mlp.shared_mlp.down_proj"}},
                           kHunyuan),
                      kMixture)}},
      {"lfm2", {.block = kLfm2, .model = kLfm2Model}},
      {"lfm2_moe",
       {.block = Both(Both(Experts("feed_forward.experts.{}.w1", "feed_forward.experts.{}.w3",
                                   "feed_forward.experts.{}.w2"),
                           {{"ffn_gate_inp", "feed_forward.gate"},
                            {"exp_probs_b", "=feed_forward.expert_bias"}}),
                      kLfm2),
        .model = kLfm2Model}},
      {"minimax_m2", {.block = kBlockSparse}},
      {"mixtral", {.block = kBlockSparse}},
      {"olmo2", {.block = kNormsAround}},
      {"olmo3", {.block = kNormsAround}},
      {"olmoe", {.block = kMixture}},
      {"phi",
       {.block = {{"attn_output", "self_attn.dense"},
                  {"ffn_up", "mlp.fc1"},
                  {"ffn_down", "mlp.fc2"}},
        .model = {{"output_norm", "model.final_layernorm"}}}},
      {"phi3", {.block = {{"attn_qkv", "self_attn.qkv_proj"}, {"ffn_up", "mlp.gate_up_proj"}}}},
      {"phimoe", {.block = kBlockSparse}},
      {"qwen2_moe", {.block = kMixture}},
      {"qwen3_moe", {.block = kMixture}},
      {"seed_oss", {.block = kSecondNorm}},
      {"stablelm",
       {.block = {{"attn_q_norm", "self_attn.q_layernorm.norms.{}"},
                  {"attn_k_norm", "self_attn.k_layernorm.norms.{}"}}}},
      {"starcoder2", {.block = {{"ffn_up", "mlp.c_fc"}, {"ffn_down", "mlp.c_proj"}}}}};
  const auto own = kOwn.find(model_type);
  return own == kOwn.end() ? kNone : own->second;
}

// What a tensor is a part of.
GgufJoin JoinOf(std::string_view model_type, std::string_view part) {
  const bool by_head = model_type == "gpt_neox" || model_type == "bloom";
  if (by_head && part == "attn_qkv") return GgufJoin::kByHead;
  const bool matrix =
      part == "attn_qkv" || part == "attn_output" || part == "ffn_up" || part == "ffn_down";
  if (model_type == "gpt2" && matrix) return GgufJoin::kTransposed;
  if (part == "attn_k_b" || part == "attn_v_b") return GgufJoin::kKeysAndValues;
  const bool gate_or_up = part.starts_with("ffn_gate_") || part.starts_with("ffn_up_");
  const bool expert = part.ends_with("_exps") || part.ends_with("_shexp");
  if (model_type.starts_with("granitemoe") && gate_or_up && expert) return GgufJoin::kHalves;
  if (model_type != "gpt_oss" || !expert) return GgufJoin::kNone;
  return gate_or_up ? GgufJoin::kPairs : GgufJoin::kTransposed;
}

}  // namespace

std::span<const GgufArchitecture> GgufArchitectures() {
  static constexpr GgufArchitecture kArchitectures[] = {
      {.name = "arcee", .model_type = "arcee", .interleaved = true},
      {.name = "bloom", .model_type = "bloom"},
      {.name = "cohere2", .model_type = "cohere2"},
      {.name = "command-r", .model_type = "cohere"},
      {.name = "deepseek2",
       .model_type = "deepseek_v3",
       .mixture = true,
       .marker = "expert_gating_func",
       .marked = 2},
      {.name = "deepseek2", .model_type = "deepseek_v2", .mixture = true},
      {.name = "dots1", .model_type = "dots1", .mixture = true},
      {.name = "ernie4_5", .model_type = "ernie4_5"},
      {.name = "ernie4_5-moe", .model_type = "ernie4_5_moe", .mixture = true},
      {.name = "exaone4", .model_type = "exaone4"},
      {.name = "gemma", .model_type = "gemma", .norms_plus_one = true},
      {.name = "gemma2", .model_type = "gemma2", .norms_plus_one = true},
      {.name = "gemma3", .model_type = "gemma3_text", .norms_plus_one = true},
      {.name = "glm4", .model_type = "glm4"},
      {.name = "glm4moe", .model_type = "glm4_moe", .mixture = true},
      {.name = "gpt-oss", .model_type = "gpt_oss", .mixture = true},
      {.name = "gpt2", .model_type = "gpt2"},
      {.name = "gptneox", .model_type = "gpt_neox"},
      {.name = "granite", .model_type = "granite", .interleaved = true},
      {.name = "granitemoe",
       .model_type = "granitemoeshared",
       .interleaved = true,
       .mixture = true,
       .marker = "expert_shared_feed_forward_length"},
      {.name = "granitemoe", .model_type = "granitemoe", .interleaved = true, .mixture = true},
      {.name = "hunyuan-dense", .model_type = "hunyuan_v1_dense"},
      {.name = "hunyuan-moe", .model_type = "hunyuan_v1_moe", .mixture = true},
      {.name = "lfm2", .model_type = "lfm2"},
      {.name = "lfm2moe", .model_type = "lfm2_moe", .mixture = true},
      {.name = "llama", .model_type = "llama", .interleaved = true},
      {.name = "llama", .model_type = "mixtral", .interleaved = true, .mixture = true},
      {.name = "minimax-m2", .model_type = "minimax_m2", .mixture = true},
      {.name = "mpt", .model_type = "mpt"},
      {.name = "nemotron", .model_type = "nemotron", .norms_plus_one = true},
      {.name = "olmo", .model_type = "olmo", .interleaved = true},
      {.name = "olmo2", .model_type = "olmo3", .marker = "attention.sliding_window"},
      {.name = "olmo2", .model_type = "olmo2"},
      {.name = "olmoe", .model_type = "olmoe", .mixture = true},
      {.name = "phi2", .model_type = "phi"},
      {.name = "phi3", .model_type = "phi3"},
      {.name = "phimoe", .model_type = "phimoe", .mixture = true},
      {.name = "qwen2", .model_type = "qwen2"},
      {.name = "qwen2moe", .model_type = "qwen2_moe", .mixture = true},
      {.name = "qwen3", .model_type = "qwen3"},
      {.name = "qwen3moe", .model_type = "qwen3_moe", .mixture = true},
      {.name = "seed_oss", .model_type = "seed_oss"},
      {.name = "smollm3", .model_type = "smollm3", .interleaved = true},
      {.name = "stablelm", .model_type = "stablelm"},
      {.name = "starcoder", .model_type = "gpt_bigcode"},
      {.name = "starcoder2", .model_type = "starcoder2"},
  };
  return kArchitectures;
}

GgufName TranslateGgufName(const GgufArchitecture& architecture, std::string_view name) {
  static const Names kModel = {
      {"token_embd", "model.embed_tokens"}, {"output_norm", "model.norm"}, {"output", "lm_head"}};
  static const Names kBlock = {
      {"attn_norm", "input_layernorm"},    {"attn_q", "self_attn.q_proj"},
      {"attn_k", "self_attn.k_proj"},      {"attn_v", "self_attn.v_proj"},
      {"attn_output", "self_attn.o_proj"}, {"attn_q_norm", "self_attn.q_norm"},
      {"attn_k_norm", "self_attn.k_norm"}, {"ffn_norm", "post_attention_layernorm"},
      {"ffn_gate", "mlp.gate_proj"},       {"ffn_up", "mlp.up_proj"},
      {"ffn_down", "mlp.down_proj"}};
  const GgufName unknown{.name = std::string(name)};
  const auto [block, rest] = SplitBlock(name);
  const std::string_view inner = block.empty() ? name : rest;
  const size_t dot = inner.rfind('.');
  const std::string_view part = inner.substr(0, dot);
  const std::string_view suffix = dot == std::string_view::npos ? "" : inner.substr(dot);
  const OwnNames& own = OwnNamesOf(architecture.model_type);
  std::string_view target;
  for (const Names* names :
       {block.empty() ? &own.model : &own.block, block.empty() ? &kModel : &kBlock}) {
    const auto found = names->find(part);
    if (target.empty() && found != names->end()) target = found->second;
  }
  if (target.empty()) return unknown;
  std::string end(suffix);
  if (target.starts_with('=')) {
    target.remove_prefix(1);
    const bool bias_itself = target.ends_with("bias");
    end = suffix == ".bias" && !bias_itself ? "_bias" : "";
  } else if (suffix != ".weight" && suffix != ".bias") {
    return unknown;
  }
  const bool plus_one =
      architecture.norms_plus_one && target.ends_with("norm") && suffix == ".weight";
  if (block.empty()) return {.name = StrCat(target, end), .plus_one = plus_one};
  return {.name = StrCat(own.blocks, block, ".", target, end),
          .rows = architecture.interleaved ? RowsOf(part) : GgufRows::kAsTheyAre,
          .plus_one = plus_one,
          .join = JoinOf(architecture.model_type, part),
          .second_part = part.starts_with("ffn_up_") || part == "attn_v_b"};
}

}  // namespace sinkd
