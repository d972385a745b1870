#include "server/engine/weights.h"

#include <algorithm>
#include <map>
#include <set>

#include <ATen/ATen.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_join.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/tensor_loader.h"

namespace sinkd {
namespace {

// The names of one block's tensors, with the block's prefix.
class BlockNames {
 public:
  BlockNames(const WeightNames& names, int64_t block)
      : prefix_(StrCat(names.block_prefix, block, ".")) {}
  std::string Weight(std::string_view name) const { return StrCat(prefix_, name, ".weight"); }
  std::string Bias(std::string_view name) const { return StrCat(prefix_, name, ".bias"); }

 private:
  std::string prefix_;
};

absl::Status LoadAttention(TensorLoader& loader, const DecoderPlan& plan, const BlockNames& at,
                           BlockWeights& block) {
  const DecoderSpec& spec = plan.spec;
  const BlockWeightNames& names = plan.names.block;
  const int64_t q_rows = spec.heads * spec.head_size;
  const int64_t kv_rows = spec.kv_heads * spec.head_size;
  SINKD_ASSIGN_OR_RETURN(block.attention_norm,
                         loader.Load(at.Weight(names.attention_norm), {spec.hidden}));
  SINKD_ASSIGN_OR_RETURN(block.qkv, loader.LoadStacked({{at.Weight(names.q), q_rows},
                                                        {at.Weight(names.k), kv_rows},
                                                        {at.Weight(names.v), kv_rows}},
                                                       {spec.hidden}));
  if (spec.qkv_bias) {
    SINKD_ASSIGN_OR_RETURN(block.qkv_bias, loader.LoadStacked({{at.Bias(names.q), q_rows},
                                                               {at.Bias(names.k), kv_rows},
                                                               {at.Bias(names.v), kv_rows}},
                                                              {}));
  }
  if (spec.head_norms) {
    SINKD_ASSIGN_OR_RETURN(block.q_norm, loader.Load(at.Weight(names.q_norm), {spec.head_size}));
    SINKD_ASSIGN_OR_RETURN(block.k_norm, loader.Load(at.Weight(names.k_norm), {spec.head_size}));
  }
  SINKD_ASSIGN_OR_RETURN(block.output, loader.Load(at.Weight(names.o), {spec.hidden, q_rows}));
  if (spec.output_bias) {
    SINKD_ASSIGN_OR_RETURN(block.output_bias, loader.Load(at.Bias(names.o), {spec.hidden}));
  }
  return absl::OkStatus();
}

absl::Status LoadMlp(TensorLoader& loader, const DecoderPlan& plan, const BlockNames& at,
                     BlockWeights& block) {
  const DecoderSpec& spec = plan.spec;
  const BlockWeightNames& names = plan.names.block;
  SINKD_ASSIGN_OR_RETURN(block.mlp_norm, loader.Load(at.Weight(names.mlp_norm), {spec.hidden}));
  SINKD_ASSIGN_OR_RETURN(block.gate_up,
                         loader.LoadStacked({{at.Weight(names.gate), spec.intermediate},
                                             {at.Weight(names.up), spec.intermediate}},
                                            {spec.hidden}));
  SINKD_ASSIGN_OR_RETURN(block.down,
                         loader.Load(at.Weight(names.down), {spec.hidden, spec.intermediate}));
  if (spec.mlp_bias) {
    SINKD_ASSIGN_OR_RETURN(block.gate_up_bias,
                           loader.LoadStacked({{at.Bias(names.gate), spec.intermediate},
                                               {at.Bias(names.up), spec.intermediate}},
                                              {}));
    SINKD_ASSIGN_OR_RETURN(block.down_bias, loader.Load(at.Bias(names.down), {spec.hidden}));
  }
  return absl::OkStatus();
}

int64_t DeviceBytes(const DecoderWeights& weights) {
  int64_t bytes = 0;
  const auto add = [&bytes](std::initializer_list<at::Tensor> tensors) {
    for (const at::Tensor& tensor : tensors) {
      if (tensor.defined()) bytes += static_cast<int64_t>(tensor.nbytes());
    }
  };
  add({weights.embedding, weights.final_norm});
  for (const BlockWeights& b : weights.blocks) {
    add({b.attention_norm, b.qkv, b.qkv_bias, b.q_norm, b.k_norm, b.output, b.output_bias,
         b.mlp_norm, b.gate_up, b.gate_up_bias, b.down, b.down_bias});
  }
  return bytes;
}

// Blocks past the config's count mean that config and weights do not belong together.
absl::Status CheckBlockCount(const Checkpoint& checkpoint, const DecoderPlan& plan) {
  for (const auto& [name, location] : checkpoint.tensors()) {
    if (!absl::StartsWith(name, plan.names.block_prefix)) continue;
    const size_t begin = plan.names.block_prefix.size();
    int64_t block = 0;
    if (!absl::SimpleAtoi(name.substr(begin, name.find('.', begin) - begin), &block)) continue;
    if (block >= plan.spec.blocks) {
      return BadTensor(location.file->name(), name,
                       StrCat("belongs to block ", block, ", but config.json says ",
                              plan.spec.blocks, " blocks"),
                       "restore config.json and weights from one source");
    }
  }
  return absl::OkStatus();
}

std::vector<std::string> Warnings(const Checkpoint& checkpoint, const DecoderPlan& plan,
                                  const std::set<std::string>& used) {
  const std::string head = plan.names.head + ".weight";
  std::vector<std::string> extra;
  for (const auto& [name, location] : checkpoint.tensors()) {
    if (used.count(name) == 0 && name != head && !absl::EndsWith(name, "rotary_emb.inv_freq")) {
      extra.push_back(name);
    }
  }
  std::vector<std::string> warnings;
  if (!extra.empty()) {
    const size_t shown = std::min<size_t>(extra.size(), 5);
    warnings.push_back(StrCat(
        extra.size(), " tensors are not used: ",
        absl::StrJoin(extra.begin(), extra.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
        extra.size() > shown ? ", ..." : ""));
  }
  if (!plan.spec.tied_head && checkpoint.Find(head) == nullptr) {
    warnings.push_back(StrCat("there is no ", head, ", which no analysis needs"));
  }
  return warnings;
}

}  // namespace

absl::StatusOr<DecoderWeights> LoadWeights(const Checkpoint& checkpoint, const DecoderPlan& plan,
                                           at::ScalarType dtype, const at::Device& device,
                                           const std::function<void(const LoadProgress&)>& progress,
                                           const std::stop_token& stop) {
  SINKD_RETURN_IF_ERROR(CheckBlockCount(checkpoint, plan));
  TensorLoader loader(checkpoint, dtype, device, progress, stop);
  const std::string head = plan.names.head + ".weight";
  int64_t total = 0;
  for (const auto& [name, location] : checkpoint.tensors()) {
    if (name != head) total += location.entry->bytes;
  }
  loader.ExpectBytes(total);

  DecoderWeights weights;
  SINKD_ASSIGN_OR_RETURN(weights.embedding, loader.Load(plan.names.embedding + ".weight",
                                                        {plan.spec.vocabulary, plan.spec.hidden}));
  for (int64_t l = 0; l < plan.spec.blocks; ++l) {
    const BlockNames names(plan.names, l);
    BlockWeights& block = weights.blocks.emplace_back();
    SINKD_RETURN_IF_ERROR(LoadAttention(loader, plan, names, block));
    SINKD_RETURN_IF_ERROR(LoadMlp(loader, plan, names, block));
  }
  SINKD_ASSIGN_OR_RETURN(weights.final_norm,
                         loader.Load(plan.names.final_norm + ".weight", {plan.spec.hidden}));
  weights.bytes = DeviceBytes(weights);
  weights.warnings = Warnings(checkpoint, plan, loader.used());
  return weights;
}

}  // namespace sinkd
