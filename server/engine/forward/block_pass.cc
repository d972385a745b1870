#include "server/engine/forward/block_pass.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "server/engine/forward/attention.h"
#include "server/engine/forward/linear.h"
#include "server/engine/forward/mlp.h"
#include "server/engine/forward/norm.h"
#include "server/engine/forward/piece_sizes.h"
#include "server/engine/forward/round_activations.h"

namespace sinkd {

// Whole states weigh most of a long sample's memory: each goes when it was read for the last time.
at::Tensor BlockPass::Run(at::Tensor x) const {
  tap_(Site::kResidPre, x);
  const bool norm_after = spec_.wiring == Wiring::kNormAfterResidual;
  at::Tensor attention = Attention(norm_after ? x : Norm(w_.attention_norm, x));
  attention = Norm(w_.attention_output_norm, attention);
  if (spec_.residual_scale != 1) attention = attention * spec_.residual_scale;
  return Join(std::move(x), std::move(attention));
}

// A tap may keep what it was shown, so the stream is never written to in place.
at::Tensor BlockPass::Join(at::Tensor x, at::Tensor attention) const {
  attention = Edited(Site::kAttnOut, attention);
  if (spec_.wiring == Wiring::kParallel) {
    return Edited(Site::kResidPost, Mlp(x).add_(attention).add_(x));
  }
  const bool norm_after = spec_.wiring == Wiring::kNormAfterResidual;
  x = x + attention;
  attention.reset();
  if (norm_after) x = Norm(w_.attention_norm, x);
  tap_(Site::kResidMid, x);
  x = Mlp(x).add_(x);
  return Edited(Site::kResidPost, norm_after ? Norm(w_.mlp_norm, x) : x);
}

at::Tensor BlockPass::Edited(Site site, const at::Tensor& rows, int64_t first_row) const {
  const at::Tensor edited = editor_ == nullptr ? rows : editor_->Apply(site, rows, first_row);
  tap_(site, edited, first_row);
  return edited;
}

at::Tensor BlockPass::Norm(const NormWeights& norm, const at::Tensor& x) const {
  return Normalize(spec_.norm, x, norm, spec_.norm_epsilon);
}

at::Tensor BlockPass::Attention(at::Tensor in) const {
  const at::Tensor mixed = RoundActivations(w_.mixed, Mixed(Project(std::move(in))));
  return Linear(mixed, w_.output, w_.output_bias).to(at::kFloat);
}

BlockPass::Projected BlockPass::Project(at::Tensor in) const {
  const int64_t heads = spec_.heads;
  const int64_t kv_heads = spec_.kv_heads;
  in = RoundActivations(w_.attention_input, in).to(w_.qkv.scalar_type());
  // Scores of hundreds do occur, and bfloat16 would round them to whole units: float32 from here.
  at::Tensor qkv = Linear(in, w_.qkv, w_.qkv_bias).to(at::kFloat);
  in.reset();
  tap_(Site::kKey, qkv.narrow(1, heads * spec_.head_size, kv_heads * spec_.head_size));
  tap_(Site::kValue,
       qkv.narrow(1, (heads + kv_heads) * spec_.head_size, kv_heads * spec_.head_size));
  if (spec_.qkv_clip > 0) qkv = qkv.clamp(-spec_.qkv_clip, spec_.qkv_clip);
  const bool whole = spec_.head_norms == HeadNorms::kWhole;
  const bool by_head = spec_.head_norms != HeadNorms::kNone && !whole;
  const auto part = [&](int64_t first, int64_t count, const NormWeights& norm,
                        const RopeTables* tables) {
    at::Tensor rows = qkv.narrow(1, first * spec_.head_size, count * spec_.head_size);
    if (whole) rows = Norm(norm, rows);
    rows = rows.unflatten(1, {count, spec_.head_size});
    if (by_head && !spec_.head_norms_after_rotary) rows = Norm(norm, rows);
    at::Tensor rotated =
        at::empty({count, rows.size(0), spec_.head_size}, rows.options()).transpose(0, 1);
    if (tables == nullptr) {
      rotated.copy_(rows);
    } else {
      Rotate(rows, *tables, rotated);
    }
    if (by_head && spec_.head_norms_after_rotary) rotated.copy_(Norm(norm, rotated));
    return rotated;
  };
  const RopeTables* tables = rope_.Get(block_, group_);
  Projected projected{.q = part(0, heads, w_.q_norm, tables),
                      .k = part(heads, kv_heads, w_.k_norm, tables),
                      .v = part(heads + kv_heads, kv_heads, {}, nullptr)};
  if (tables != nullptr && tables->query_scale.defined()) {
    projected.q.mul_(tables->query_scale.view({-1, 1, 1}));
  }
  return projected;
}

at::Tensor BlockPass::Mixed(const Projected& projected) const {
  const auto at_block = static_cast<size_t>(block_);
  const auto attend = [&](int64_t s, int64_t samples) {
    const auto rows = [&](const at::Tensor& all) {
      return all.narrow(0, group_.begin(s), samples * group_.length(s));
    };
    return Attend({.q = rows(projected.q),
                   .k = rows(projected.k),
                   .v = rows(projected.v),
                   .sinks = w_.sinks,
                   .samples = samples,
                   .scale = spec_.score_scale[at_block],
                   .cap = spec_.score_cap,
                   .window = spec_.window[at_block]},
                  &observer_, block_, group_.first_sample + s);
  };
  const at::ScalarType type = w_.output.scalar_type();
  if (group_.samples() == 1) return attend(0, 1).to(type);
  const at::Tensor mixed =
      at::empty({group_.rows(), spec_.heads * spec_.head_size}, projected.q.options().dtype(type));
  for (const EqualSamples& equals : GroupByLength(group_.offsets)) {
    const int64_t most = SamplesTogether(spec_.heads, equals.length);
    for (int64_t s = 0; s < equals.samples; s += most) {
      const int64_t some = std::min(most, equals.samples - s);
      mixed.narrow(0, equals.first_row + s * equals.length, some * equals.length)
          .copy_(attend(equals.first + s, some));
    }
  }
  return mixed;
}

at::Tensor BlockPass::Mlp(const at::Tensor& x) const {
  const bool norm_before = spec_.wiring != Wiring::kNormAfterResidual;
  const int64_t piece = MlpRows(spec_, x.is_cpu(), w_.output.scalar_type() == at::kBFloat16);
  at::Tensor sum = at::empty_like(x);
  for (int64_t first = 0; first < x.size(0); first += piece) {
    const at::Tensor rows = x.narrow(0, first, std::min(piece, x.size(0) - first));
    const at::Tensor in = norm_before ? Norm(w_.mlp_norm, rows) : rows;
    tap_(Site::kMlpIn, in, first);
    const at::Tensor out = Edited(Site::kMlpOut, RunMlp(spec_, w_, in, rows, tap_, first), first);
    sum.narrow(0, first, rows.size(0)).copy_(out);
  }
  return sum;
}

}  // namespace sinkd
