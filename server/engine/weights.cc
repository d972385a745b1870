#include "server/engine/weights.h"

#include <algorithm>
#include <set>

#include <ATen/ATen.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_join.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/block_loader.h"
#include "server/engine/tensor_loader.h"
#include "server/engine/weight_names.h"

namespace sinkd {
namespace {

int64_t Bytes(std::initializer_list<at::Tensor> tensors) {
  int64_t bytes = 0;
  for (const at::Tensor& tensor : tensors) {
    if (tensor.defined()) bytes += static_cast<int64_t>(tensor.nbytes());
  }
  return bytes;
}

int64_t Bytes(const NormWeights& norm) {
  return Bytes({norm.weight, norm.bias});
}

int64_t Bytes(const MlpWeights& mlp) {
  return Bytes({mlp.gate_up, mlp.gate_up_bias, mlp.down, mlp.down_bias});
}

int64_t Bytes(const BlockWeights& b) {
  int64_t bytes =
      Bytes({b.qkv, b.qkv_bias, b.sinks, b.output, b.output_bias, b.router, b.router_bias}) +
      Bytes(b.mlp);
  for (const NormWeights* norm : {&b.attention_norm, &b.attention_output_norm, &b.q_norm, &b.k_norm,
                                  &b.mlp_norm, &b.mlp_output_norm}) {
    bytes += Bytes(*norm);
  }
  for (const MlpWeights& expert : b.experts) bytes += Bytes(expert);
  return bytes;
}

int64_t Bytes(const DecoderWeights& weights) {
  int64_t bytes =
      Bytes({weights.embedding, weights.positions, weights.project_in, weights.project_out}) +
      Bytes(weights.final_norm);
  for (const BlockWeights& block : weights.blocks) bytes += Bytes(block);
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

// Constants that old checkpoints store beside their weights.
bool IsBuffer(const std::string& name) {
  for (const char* suffix : {"rotary_emb.inv_freq", ".attn.bias", ".attn.masked_bias",
                             ".attention.bias", ".attention.masked_bias"}) {
    if (absl::EndsWith(name, suffix)) return true;
  }
  return false;
}

std::vector<std::string> Warnings(const Checkpoint& checkpoint, const DecoderPlan& plan,
                                  const std::set<std::string>& used) {
  const std::string head = plan.names.head + ".weight";
  std::vector<std::string> extra;
  for (const auto& [name, location] : checkpoint.tensors()) {
    if (used.count(name) == 0 && name != head && !IsBuffer(name)) {
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

absl::StatusOr<DecoderWeights> LoadWeights(const Checkpoint& checkpoint, const DecoderPlan& family,
                                           at::ScalarType dtype, const at::Device& device,
                                           const std::function<void(const LoadProgress&)>& progress,
                                           const std::stop_token& stop) {
  const DecoderPlan plan{family.spec, ResolveNames(checkpoint, family.spec, family.names)};
  SINKD_RETURN_IF_ERROR(CheckBlockCount(checkpoint, plan));
  TensorLoader loader(checkpoint, dtype, device, progress, stop);
  const std::string head = plan.names.head + ".weight";
  int64_t total = 0;
  for (const auto& [name, location] : checkpoint.tensors()) {
    if (name != head) total += location.entry->bytes;
  }
  loader.ExpectBytes(total);

  const DecoderSpec& spec = plan.spec;
  const int64_t width = spec.embedding_width > 0 ? spec.embedding_width : spec.hidden;
  DecoderWeights weights;
  SINKD_ASSIGN_OR_RETURN(weights.embedding,
                         loader.Load(plan.names.embedding + ".weight", {spec.vocabulary, width}));
  if (spec.learned_positions > 0) {
    SINKD_ASSIGN_OR_RETURN(weights.positions, loader.Load(plan.names.positions + ".weight",
                                                          {spec.learned_positions, spec.hidden}));
  }
  if (spec.embedding_width > 0) {
    SINKD_ASSIGN_OR_RETURN(weights.project_in,
                           loader.Load(plan.names.project_in + ".weight", {spec.hidden, width}));
    SINKD_ASSIGN_OR_RETURN(weights.project_out,
                           loader.Load(plan.names.project_out + ".weight", {width, spec.hidden}));
  }
  for (int64_t l = 0; l < spec.blocks; ++l) {
    SINKD_ASSIGN_OR_RETURN(weights.blocks.emplace_back(), LoadBlock(loader, plan, l));
  }
  if (spec.final_norm) {
    SINKD_ASSIGN_OR_RETURN(weights.final_norm,
                           LoadNorm(loader, spec.norm, plan.names.final_norm, spec.hidden));
  }
  weights.bytes = Bytes(weights);
  weights.warnings = Warnings(checkpoint, plan, loader.used());
  return weights;
}

}  // namespace sinkd
