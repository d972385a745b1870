#include "server/engine/decoder.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "server/base/status.h"
#include "server/engine/attention.h"
#include "server/engine/block_tap.h"
#include "server/engine/mlp.h"
#include "server/engine/norm.h"

namespace sinkd {
namespace {

// Rows of the MLP computed at once, so that gate and up do not dominate memory on long samples.
constexpr int64_t kMlpRows = 2048;

}  // namespace

absl::Status Decoder::Forward(const PackedBatch& batch, TapObserver& observer,
                              const std::stop_token& stop) const {
  RopeCache rope(spec_, weights_.embedding.device());
  at::Tensor x = Embed(batch);
  for (int64_t l = 0; l < spec_.blocks; ++l) {
    if (stop.stop_requested()) return Cancelled("the analysis was cancelled");
    const BlockTap tap(observer, l);
    tap(Site::kResidPre, x);
    x = RunBlock(l, x, batch, rope, observer);
    tap(Site::kResidPost, x);
  }
  if (observer.Wants(Site::kFinalNorm, spec_.blocks - 1)) {
    BlockTap(observer, spec_.blocks - 1)(Site::kFinalNorm, FinalState(x));
  }
  return absl::OkStatus();
}

// The residual stream is float32 whatever the weights are: beside a sink of norm 25,000 a bfloat16
// stream would round everything that later blocks write to the nearest hundred.
at::Tensor Decoder::Embed(const PackedBatch& batch) const {
  at::Tensor x = at::embedding(weights_.embedding, batch.ids);
  if (weights_.project_in.defined()) x = at::linear(x, weights_.project_in);
  x = x.to(at::kFloat) * spec_.embedding_scale;
  if (!weights_.positions.defined()) return x;
  std::vector<at::Tensor> rows;
  for (size_t s = 0; s + 1 < batch.offsets.size(); ++s) {
    rows.push_back(weights_.positions.narrow(0, spec_.position_offset,
                                             batch.offsets[s + 1] - batch.offsets[s]));
  }
  return x + at::cat(rows).to(at::kFloat);
}

// A tap may keep what it was shown, so the stream is never written to in place.
at::Tensor Decoder::RunBlock(int64_t block, const at::Tensor& x, const PackedBatch& batch,
                             RopeCache& rope, TapObserver& observer) const {
  const BlockWeights& w = weights_.blocks[static_cast<size_t>(block)];
  const BlockTap tap(observer, block);
  const bool norm_after = spec_.wiring == Wiring::kNormAfterResidual;
  const at::Tensor read = norm_after ? x : Norm(w.attention_norm, x);
  const at::Tensor attention =
      Norm(w.attention_output_norm, Attention(block, read, batch, rope, observer));
  tap(Site::kAttnOut, attention);
  if (spec_.wiring == Wiring::kParallel) return Mlp(block, x, observer) + attention + x;
  at::Tensor middle = x + attention;
  if (norm_after) middle = Norm(w.attention_norm, middle);
  tap(Site::kResidMid, middle);
  at::Tensor out = middle + Mlp(block, middle, observer);
  return norm_after ? Norm(w.mlp_norm, out) : out;
}

at::Tensor Decoder::Norm(const NormWeights& norm, const at::Tensor& x) const {
  return norm.weight.defined() ? Normalize(spec_.norm, x, norm, spec_.norm_epsilon) : x;
}

at::Tensor Decoder::FinalState(const at::Tensor& x) const {
  const at::Tensor normed = Norm(weights_.final_norm, x);
  if (!weights_.project_out.defined()) return normed;
  return at::linear(normed, weights_.project_out.to(at::kFloat));
}

at::Tensor Decoder::Attention(int64_t block, const at::Tensor& in, const PackedBatch& batch,
                              RopeCache& rope, TapObserver& observer) const {
  const auto at_block = static_cast<size_t>(block);
  const BlockWeights& w = weights_.blocks[at_block];
  const int64_t heads = spec_.heads;
  const int64_t kv_heads = spec_.kv_heads;
  // Scores of hundreds do occur, and bfloat16 would round them to whole units: float32 from here.
  const at::Tensor qkv = at::linear(in.to(w.qkv.scalar_type()), w.qkv, w.qkv_bias).to(at::kFloat);
  const auto part = [&](int64_t first, int64_t count, const NormWeights& norm) {
    at::Tensor rows = qkv.narrow(1, first * spec_.head_size, count * spec_.head_size);
    if (spec_.head_norms == HeadNorms::kWhole) rows = Norm(norm, rows);
    rows = rows.unflatten(1, {count, spec_.head_size});
    return spec_.head_norms == HeadNorms::kPerHead ? Norm(norm, rows) : rows;
  };
  const at::Tensor q = part(0, heads, w.q_norm);
  const at::Tensor k = part(heads, kv_heads, w.k_norm);
  const at::Tensor v = part(heads + kv_heads, kv_heads, {});
  std::vector<at::Tensor> mixed;
  for (size_t s = 0; s + 1 < batch.offsets.size(); ++s) {
    const int64_t first = batch.offsets[s];
    const int64_t rows = batch.offsets[s + 1] - first;
    const RopeTables* tables = rope.Get(block, rows);
    const auto rotated = [&](const at::Tensor& x) {
      const at::Tensor sample = x.narrow(0, first, rows);
      return tables == nullptr ? sample : Rotate(sample, *tables);
    };
    mixed.push_back(Attend({.q = rotated(q),
                            .k = rotated(k),
                            .v = v.narrow(0, first, rows),
                            .sinks = w.sinks,
                            .scale = spec_.score_scale[at_block],
                            .cap = spec_.score_cap,
                            .window = spec_.window[at_block]},
                           &observer, block, static_cast<int64_t>(s)));
  }
  const at::Tensor joined = mixed.size() == 1 ? mixed.front() : at::cat(mixed);
  return at::linear(joined.to(w.output.scalar_type()), w.output, w.output_bias).to(at::kFloat);
}

at::Tensor Decoder::Mlp(int64_t block, const at::Tensor& x, TapObserver& observer) const {
  const BlockWeights& w = weights_.blocks[static_cast<size_t>(block)];
  const BlockTap tap(observer, block);
  const bool norm_before = spec_.wiring != Wiring::kNormAfterResidual;
  at::Tensor sum = at::empty_like(x);
  for (int64_t first = 0; first < x.size(0); first += kMlpRows) {
    const at::Tensor rows = x.narrow(0, first, std::min(kMlpRows, x.size(0) - first));
    const at::Tensor in = norm_before ? Norm(w.mlp_norm, rows) : rows;
    tap(Site::kMlpIn, in, first);
    const at::Tensor out = Norm(w.mlp_output_norm, RunMlp(spec_, w, in, tap, first));
    tap(Site::kMlpOut, out, first);
    sum.narrow(0, first, rows.size(0)).copy_(out);
  }
  return sum;
}

}  // namespace sinkd
