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

}  // namespace

std::span<const GgufArchitecture> GgufArchitectures() {
  static constexpr GgufArchitecture kArchitectures[] = {
      {"llama", true},
      {"qwen2", false},
      {"qwen3", false},
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
  const auto found = names.find(part);
  if (found == names.end()) return unknown;
  if (block.empty()) return {.name = StrCat(found->second, suffix)};
  return {.name = StrCat("model.layers.", block, ".", found->second, suffix),
          .rows = architecture.interleaved ? RowsOf(part) : GgufRows::kAsTheyAre};
}

}  // namespace sinkd
