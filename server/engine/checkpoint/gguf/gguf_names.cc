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

// Of the tensors of a block that a model type names in another way than llama.
const Names& OwnNames(std::string_view model_type) {
  static const Names kNone;
  static const Names kNormsAround = {{"post_attention_norm", "post_attention_layernorm"},
                                     {"ffn_norm", "pre_feedforward_layernorm"},
                                     {"post_ffw_norm", "post_feedforward_layernorm"}};
  static const Names kMixture = {{"ffn_gate_inp", "mlp.gate"},
                                 {"ffn_gate_exps", "mlp.experts.{}.gate_proj"},
                                 {"ffn_up_exps", "mlp.experts.{}.up_proj"},
                                 {"ffn_down_exps", "mlp.experts.{}.down_proj"},
                                 {"ffn_gate_inp_shexp", "mlp.shared_expert_gate"},
                                 {"ffn_gate_shexp", "mlp.shared_expert.gate_proj"},
                                 {"ffn_up_shexp", "mlp.shared_expert.up_proj"},
                                 {"ffn_down_shexp", "mlp.shared_expert.down_proj"}};
  static const std::map<std::string_view, Names> kOwn = {
      {"gemma2", kNormsAround},
      {"gemma3_text", kNormsAround},
      {"mixtral",
       {{"ffn_gate_inp", "block_sparse_moe.gate"},
        {"ffn_gate_exps", "block_sparse_moe.experts.{}.w1"},
        {"ffn_up_exps", "block_sparse_moe.experts.{}.w3"},
        {"ffn_down_exps", "block_sparse_moe.experts.{}.w2"}}},
      {"olmo2", kNormsAround},
      {"phi3", {{"attn_qkv", "self_attn.qkv_proj"}, {"ffn_up", "mlp.gate_up_proj"}}},
      {"qwen2_moe", kMixture},
      {"qwen3_moe", kMixture},
      {"starcoder2", {{"ffn_up", "mlp.c_fc"}, {"ffn_down", "mlp.c_proj"}}}};
  const auto own = kOwn.find(model_type);
  return own == kOwn.end() ? kNone : own->second;
}

}  // namespace

std::span<const GgufArchitecture> GgufArchitectures() {
  static constexpr GgufArchitecture kArchitectures[] = {
      {.name = "gemma2", .model_type = "gemma2", .norms_plus_one = true},
      {.name = "gemma3", .model_type = "gemma3_text", .norms_plus_one = true},
      {.name = "granite", .model_type = "granite", .interleaved = true},
      {.name = "llama", .model_type = "llama", .interleaved = true},
      {.name = "llama", .model_type = "mixtral", .interleaved = true, .mixture = true},
      {.name = "olmo2", .model_type = "olmo2"},
      {.name = "phi3", .model_type = "phi3"},
      {.name = "qwen2", .model_type = "qwen2"},
      {.name = "qwen2moe", .model_type = "qwen2_moe", .mixture = true},
      {.name = "qwen3", .model_type = "qwen3"},
      {.name = "qwen3moe", .model_type = "qwen3_moe", .mixture = true},
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
  if (dot == std::string_view::npos) return unknown;
  const std::string_view part = inner.substr(0, dot);
  const std::string_view suffix = inner.substr(dot);
  if (suffix != ".weight" && suffix != ".bias") return unknown;
  const Names& names = block.empty() ? kModel : kBlock;
  const Names& own = OwnNames(architecture.model_type);
  auto found = names.find(part);
  if (const auto first = own.find(part); !block.empty() && first != own.end()) found = first;
  if (found == names.end()) return unknown;
  const bool plus_one = architecture.norms_plus_one && found->second.ends_with("norm");
  if (block.empty()) return {.name = StrCat(found->second, suffix), .plus_one = plus_one};
  return {.name = StrCat("model.layers.", block, ".", found->second, suffix),
          .rows = architecture.interleaved ? RowsOf(part) : GgufRows::kAsTheyAre,
          .plus_one = plus_one};
}

}  // namespace sinkd
