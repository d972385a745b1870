#include "server/engine/forward/block_pass.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "server/engine/forward/attention.h"
#include "server/engine/forward/attention_way.h"
#include "server/engine/forward/gated_units.h"
#include "server/engine/forward/linear.h"
#include "server/engine/forward/mixers.h"
#include "server/engine/forward/mlp.h"
#include "server/engine/forward/norm.h"
#include "server/engine/forward/piece_sizes.h"
#include "server/engine/forward/round_activations.h"
#include "server/engine/forward/value_norms.h"

namespace sinkd {

// Whole states weigh most of a long sample's memory: each goes when it was read for the last time.
at::Tensor BlockPass::Run(at::Tensor x) const {
  tap_(Site::kResidPre, x);
  const bool norm_after = spec_.wiring == Wiring::kNormAfterResidual;
  at::Tensor attention = Mix(norm_after ? x : Norm(w_.attention_norm, x));
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
  if (spec_.HasResidMid(block_)) tap_(Site::kResidMid, x);
  x = Mlp(x).add_(x);
  x = AfterMlp(norm_after ? Norm(w_.mlp_norm, x) : x);
  return Edited(Site::kResidPost, x);
}

at::Tensor BlockPass::AfterMlp(at::Tensor x) const {
  if (w_.token_gate.defined()) {
    const auto typed = [&](const at::Tensor& rows) { return rows.to(w_.token_gate.scalar_type()); };
    const at::Tensor gate = Linear(typed(x), w_.token_gate).to(at::kFloat);
    const at::Tensor own = shared_.token_inputs.select(1, block_).to(x.device());
    const at::Tensor read = Activate(spec_.activation, gate) * own;
    x = x + Norm(w_.token_norm, Linear(typed(read), w_.token_output).to(at::kFloat));
  }
  return w_.scale.defined() ? x * w_.scale.to(at::kFloat) : x;
}

at::Tensor BlockPass::Edited(Site site, const at::Tensor& rows, int64_t first_row) const {
  const at::Tensor edited = editor_ == nullptr ? rows : editor_->Apply(site, rows, first_row);
  tap_(site, edited, first_row);
  return edited;
}

at::Tensor BlockPass::Norm(const NormWeights& norm, const at::Tensor& x) const {
  return Normalize(spec_.norm, x, norm, spec_.norm_epsilon);
}

at::Tensor BlockPass::Mix(at::Tensor in) const {
  switch (spec_.MixerOf(block_)) {
    case Mixer::kAttention:
      return Attention(std::move(in));
    case Mixer::kShortConvolution:
      return ShortConvolution(spec_, w_.mixer, std::move(in), group_);
    case Mixer::kGatedDelta:
      return GatedDelta(spec_, w_.mixer, std::move(in), group_);
    case Mixer::kMamba2:
      return Mamba2(spec_, w_.mixer, std::move(in), group_);
    case Mixer::kAttentionAndMamba2:
      return Mamba2(spec_, w_.mixer, in, group_).add_(Attention(std::move(in)));
    case Mixer::kNone:
      return at::zeros_like(in);
  }
  return {};
}

at::Tensor BlockPass::Attention(at::Tensor in) const {
  const bool latent = spec_.latent.kv_rank > 0;
  if (spec_.attention_input_scale != 1) in = in * spec_.attention_input_scale;
  const at::Tensor mixed = RoundActivations(
      w_.mixed, Mixed(latent ? ProjectLatents(std::move(in)) : Project(std::move(in))));
  const at::Tensor out = Linear(mixed, w_.output, w_.output_bias).to(at::kFloat);
  return spec_.attention_output_scale == 1 ? out : out * spec_.attention_output_scale;
}

at::Tensor BlockPass::Rotated(const at::Tensor& rows, const RopeTables* tables) const {
  at::Tensor rotated =
      at::empty({rows.size(1), rows.size(0), rows.size(2)}, rows.options()).transpose(0, 1);
  if (tables == nullptr) return rotated.copy_(rows);
  Rotate(rows, *tables, rotated);
  return rotated;
}

at::Tensor BlockPass::Clipped(const at::Tensor& rows) const {
  return spec_.qkv_clip > 0 ? rows.clamp(-spec_.qkv_clip, spec_.qkv_clip) : rows;
}

BlockPass::Projected BlockPass::Project(at::Tensor in) const {
  const int64_t size = shape_.head_size;
  const int64_t values = shape_.value_size;
  in = RoundActivations(w_.attention_input, in).to(w_.qkv.scalar_type());
  // Scores of hundreds do occur, and bfloat16 would round them to whole units: float32 from here.
  at::Tensor qkv = Linear(in, w_.qkv, w_.qkv_bias).to(at::kFloat);
  in.reset();
  const int64_t q_width = spec_.heads * size;
  const bool own = spec_.KeysOf(block_) == block_;
  const int64_t k_width = own ? shape_.kv_heads * size : 0;
  const int64_t v_width = own ? shape_.kv_heads * values : 0;
  if (own) {
    tap_(Site::kKey, qkv.narrow(1, q_width, k_width));
    tap_(Site::kValue, qkv.narrow(1, q_width + k_width, v_width));
  }
  if (!spec_.clip_after_norms) qkv = Clipped(qkv);
  const bool whole = spec_.head_norms == HeadNorms::kWhole;
  const RopeTables* tables = rope_.Get(block_, group_);
  const auto part = [&](int64_t first, int64_t width, const NormWeights& norm) {
    at::Tensor rows = qkv.narrow(1, first, width);
    if (whole) rows = Norm(norm, rows);
    if (spec_.clip_after_norms) rows = Clipped(rows);
    rows = rows.unflatten(1, {-1, size});
    if (!whole && !spec_.head_norms_after_rotary) rows = Norm(norm, rows);
    at::Tensor rotated = Rotated(rows, tables);
    if (!whole && spec_.head_norms_after_rotary) rotated.copy_(Norm(norm, rotated));
    return rotated;
  };
  Projected projected{.q = part(0, q_width, w_.q_norm), .k = {}, .v = {}, .gate = {}};
  if (own) {
    at::Tensor v = qkv.narrow(1, q_width + k_width, v_width);
    if (spec_.clip_after_norms) v = Clipped(v);
    v = v.unflatten(1, {-1, values});
    if (spec_.value_norms) v = Norm({.weight = at::ones({}, v.options()), .bias = {}}, v);
    projected.k = part(q_width, k_width, w_.k_norm);
    projected.v = Rotated(v, nullptr);
  }
  ShareKeys(projected);
  if (spec_.value_scale != 1) projected.v.mul_(spec_.value_scale);
  if (tables != nullptr && tables->query_scale.defined()) {
    projected.q.mul_(tables->query_scale.view({-1, 1, 1}));
  }
  if (spec_.attention_gate) projected.gate = Gate(qkv);
  return projected;
}

void BlockPass::ShareKeys(Projected& projected) const {
  if (spec_.keys_of.empty()) return;
  const int64_t from = spec_.KeysOf(block_);
  if (from != block_) {
    const auto& [k, v] = shared_.keys_and_values.at(from);
    projected.k = k.to(projected.q.device());
    projected.v = v.to(projected.q.device());
  } else if (std::count(spec_.keys_of.begin(), spec_.keys_of.end(), block_) > 1) {
    shared_.keys_and_values[block_] = {projected.k, projected.v};
  }
}

BlockPass::Projected BlockPass::ProjectLatents(at::Tensor in) const {
  const LatentSpec& latent = spec_.latent;
  const at::ScalarType type = w_.qkv.scalar_type();
  const int64_t own = shape_.head_size - latent.shared;  // channels of a key that only its head has
  const int64_t values = shape_.value_size;
  const bool narrow = latent.query_rank > 0;
  in = RoundActivations(w_.attention_input, in).to(type);
  const std::vector<at::Tensor> parts =
      Linear(in, w_.qkv, w_.qkv_bias)
          .to(at::kFloat)
          .split_with_sizes({narrow ? latent.query_rank : spec_.heads * shape_.head_size,
                             latent.kv_rank, latent.shared},
                            1);
  in.reset();
  const auto widened = [&](const at::Tensor& from, const NormWeights& norm,
                           const ActivationScheme& scheme, const at::Tensor& up) {
    const at::Tensor normed = Normalize(NormKind::kRms, from, norm, latent.norm_epsilon);
    return Linear(RoundActivations(scheme, normed).to(type), up).to(at::kFloat);
  };
  const RopeTables* tables = rope_.Get(block_, group_);
  const at::Tensor q =
      narrow ? widened(parts[0], w_.q_latent_norm, w_.q_latent, w_.q_up) : parts[0];
  Projected projected{
      .q = Rotated(q.unflatten(1, {-1, shape_.head_size}), tables), .k = {}, .v = {}, .gate = {}};
  const at::Tensor kv =
      widened(parts[1], w_.kv_latent_norm, w_.kv_latent, w_.kv_up).unflatten(1, {-1, own + values});
  const at::Tensor v = kv.narrow(2, own, values);
  at::Tensor k = at::empty({kv.size(0), spec_.heads, shape_.head_size}, kv.options());
  k.narrow(2, 0, own).copy_(kv.narrow(2, 0, own));
  k.narrow(2, own, latent.shared).copy_(parts[2].unsqueeze(1));
  tap_(Site::kKey, k.flatten(1));
  if (tap_.Wants(Site::kValue)) tap_(Site::kValue, v.flatten(1));
  projected.k = Rotated(k, tables);
  projected.v = Rotated(v, nullptr);
  return projected;
}

at::Tensor BlockPass::Gate(const at::Tensor& qkv) const {
  const int64_t width = spec_.heads * spec_.head_size;
  const at::Tensor gate = Sigmoid(qkv.narrow(1, qkv.size(1) - width, width));
  if (observer_.WantsAttention(block_)) {
    observer_.OnGates(block_, group_.first_row,
                      gate.unflatten(1, {spec_.heads, spec_.head_size}).mean(2));
  }
  return gate;
}

at::Tensor BlockPass::Mixed(const Projected& projected) const {
  const auto at_block = static_cast<size_t>(block_);
  const at::Tensor tokens = observer_.WantsAttention(block_) ? observer_.Tokens() : at::Tensor();
  if (tokens.defined()) {
    observer_.OnValueNorms(block_, group_.first_row,
                           ValueNorms(projected.v, w_.output, spec_.heads));
  }
  const auto attend = [&](int64_t s, int64_t samples) {
    const auto rows = [&](const at::Tensor& all) {
      return all.narrow(0, group_.begin(s), samples * group_.length(s));
    };
    const double scale = spec_.score_scale[at_block];
    AttentionInput input{
        .q = rows(projected.q),
        .k = rows(projected.k),
        .v = rows(projected.v),
        .sinks = w_.sinks,
        .samples = samples,
        .scale = scale,
        .cap = spec_.score_cap,
        .window = spec_.window[at_block],
        .chunk = spec_.chunk.empty() ? 0 : spec_.chunk[at_block],
        .key_bias = KeyBias(spec_.distance_bias, scale, group_.length(s), projected.q.options()),
        .hidden = {},
        .tokens =
            tokens.defined()
                ? rows(tokens.narrow(0, group_.first_row, group_.rows())).to(projected.q.device())
                : at::Tensor(),
        .narrow =
            w_.qkv.scalar_type() == at::kBFloat16 && NarrowsAttention(projected.q.device().type())};
    const AttentionEditor edits = editor_ == nullptr ? AttentionEditor() : editor_->Attention(s);
    edits.ChangeInput(input);
    const at::Tensor out =
        edits.ChangeOutput(input, Attend(input, &observer_, block_, group_.first_sample + s));
    return projected.gate.defined() ? out * rows(projected.gate) : out;
  };
  const at::ScalarType type = w_.output.scalar_type();
  if (group_.samples() == 1) return attend(0, 1).to(type);
  const at::Tensor mixed = at::empty({group_.rows(), spec_.heads * shape_.value_size},
                                     projected.q.options().dtype(type));
  const bool one_by_one = editor_ != nullptr && editor_->ChangesAttention();
  for (const EqualSamples& equals : GroupByLength(group_.offsets)) {
    const int64_t most = one_by_one ? 1 : SamplesTogether(spec_.heads, equals.length);
    for (int64_t s = 0; s < equals.samples; s += most) {
      const int64_t some = std::min(most, equals.samples - s);
      mixed.narrow(0, equals.first_row + s * equals.length, some * equals.length)
          .copy_(attend(equals.first + s, some));
    }
  }
  return mixed;
}

at::Tensor BlockPass::Mlp(const at::Tensor& x) const {
  if (!spec_.HasMlp(block_)) return Edited(Site::kMlpOut, at::zeros_like(x)).clone();
  const bool norm_before = spec_.wiring != Wiring::kNormAfterResidual;
  const int64_t piece = MlpRows(spec_, x.is_cpu(), w_.options.dtype() == at::kBFloat16);
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
