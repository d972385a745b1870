#include "server/engine/block_pass.h"

#include <algorithm>
#include <vector>

#include <ATen/ATen.h>

#include "server/engine/attention.h"
#include "server/engine/linear.h"
#include "server/engine/mlp.h"
#include "server/engine/norm.h"
#include "server/engine/piece_sizes.h"

namespace sinkd {

at::Tensor BlockPass::Run(const at::Tensor& x) const {
  tap_(Site::kResidPre, x);
  const bool norm_after = spec_.wiring == Wiring::kNormAfterResidual;
  const at::Tensor read = norm_after ? x : Norm(w_.attention_norm, x);
  return Join(x, Norm(w_.attention_output_norm, Attention(read)));
}

// A tap may keep what it was shown, so the stream is never written to in place.
at::Tensor BlockPass::Join(const at::Tensor& x, const at::Tensor& attention) const {
  const at::Tensor added = Edited(Site::kAttnOut, attention);
  if (spec_.wiring == Wiring::kParallel) return Edited(Site::kResidPost, Mlp(x) + added + x);
  const bool norm_after = spec_.wiring == Wiring::kNormAfterResidual;
  at::Tensor middle = x + added;
  if (norm_after) middle = Norm(w_.attention_norm, middle);
  tap_(Site::kResidMid, middle);
  const at::Tensor out = middle + Mlp(middle);
  return Edited(Site::kResidPost, norm_after ? Norm(w_.mlp_norm, out) : out);
}

at::Tensor BlockPass::Edited(Site site, const at::Tensor& rows, int64_t first_row) const {
  const at::Tensor edited = editor_ == nullptr ? rows : editor_->Apply(site, rows, first_row);
  tap_(site, edited, first_row);
  return edited;
}

at::Tensor BlockPass::Norm(const NormWeights& norm, const at::Tensor& x) const {
  return Normalize(spec_.norm, x, norm, spec_.norm_epsilon);
}

at::Tensor BlockPass::Attention(const at::Tensor& in) const {
  const auto at_block = static_cast<size_t>(block_);
  const int64_t heads = spec_.heads;
  const int64_t kv_heads = spec_.kv_heads;
  // Scores of hundreds do occur, and bfloat16 would round them to whole units: float32 from here.
  const at::Tensor qkv = Linear(in.to(w_.qkv.scalar_type()), w_.qkv, w_.qkv_bias).to(at::kFloat);
  tap_(Site::kKey, qkv.narrow(1, heads * spec_.head_size, kv_heads * spec_.head_size));
  tap_(Site::kValue,
       qkv.narrow(1, (heads + kv_heads) * spec_.head_size, kv_heads * spec_.head_size));
  const auto part = [&](int64_t first, int64_t count, const NormWeights& norm) {
    at::Tensor rows = qkv.narrow(1, first * spec_.head_size, count * spec_.head_size);
    if (spec_.head_norms == HeadNorms::kWhole) rows = Norm(norm, rows);
    rows = rows.unflatten(1, {count, spec_.head_size});
    return spec_.head_norms == HeadNorms::kPerHead ? Norm(norm, rows) : rows;
  };
  const at::Tensor q = part(0, heads, w_.q_norm);
  const at::Tensor k = part(heads, kv_heads, w_.k_norm);
  const at::Tensor v = part(heads + kv_heads, kv_heads, {});
  std::vector<at::Tensor> mixed;
  for (int64_t s = 0; s < group_.samples(); ++s) {
    const int64_t first = group_.begin(s);
    const int64_t rows = group_.length(s);
    const RopeTables* tables = rope_.Get(block_, rows);
    const auto rotated = [&](const at::Tensor& x) {
      const at::Tensor sample = x.narrow(0, first, rows);
      return tables == nullptr ? sample : Rotate(sample, *tables);
    };
    mixed.push_back(Attend({.q = rotated(q),
                            .k = rotated(k),
                            .v = v.narrow(0, first, rows),
                            .sinks = w_.sinks,
                            .scale = spec_.score_scale[at_block],
                            .cap = spec_.score_cap,
                            .window = spec_.window[at_block]},
                           &observer_, block_, group_.first_sample + s));
  }
  const at::Tensor joined = mixed.size() == 1 ? mixed.front() : at::cat(mixed);
  return Linear(joined.to(w_.output.scalar_type()), w_.output, w_.output_bias).to(at::kFloat);
}

at::Tensor BlockPass::Mlp(const at::Tensor& x) const {
  const bool norm_before = spec_.wiring != Wiring::kNormAfterResidual;
  at::Tensor sum = at::empty_like(x);
  for (int64_t first = 0; first < x.size(0); first += kMlpRows) {
    const at::Tensor rows = x.narrow(0, first, std::min(kMlpRows, x.size(0) - first));
    const at::Tensor in = norm_before ? Norm(w_.mlp_norm, rows) : rows;
    tap_(Site::kMlpIn, in, first);
    const at::Tensor out = Edited(Site::kMlpOut, RunMlp(spec_, w_, in, tap_, first), first);
    sum.narrow(0, first, rows.size(0)).copy_(out);
  }
  return sum;
}

}  // namespace sinkd
