#include "server/engine/decoder.h"

#include <algorithm>
#include <cmath>

#include <ATen/ATen.h>

#include "server/base/status.h"
#include "server/engine/attention.h"
#include "server/engine/block_tap.h"
#include "server/engine/mlp.h"
#include "server/engine/norm.h"

namespace sinkd {
Decoder::Decoder(const DecoderSpec& spec, const DecoderWeights& weights)
    : spec_(spec),
      weights_(weights),
      inverse_frequencies_(InverseFrequencies(spec.rope, spec.head_size)) {}

absl::Status Decoder::Forward(const PackedBatch& batch, TapObserver& observer,
                              const std::stop_token& stop) const {
  int64_t longest = 0;
  for (size_t s = 0; s + 1 < batch.offsets.size(); ++s) {
    longest = std::max(longest, batch.offsets[s + 1] - batch.offsets[s]);
  }
  const RopeTables rope = MakeRopeTables(inverse_frequencies_, spec_.rope.attention_factor, longest,
                                         weights_.embedding.device());
  // The residual stream is float32 whatever the weights are: beside a sink of norm 25,000 a
  // bfloat16 stream would round everything that later blocks write to the nearest hundred.
  at::Tensor x = at::embedding(weights_.embedding, batch.ids).to(at::kFloat);  // [N, C]
  for (int64_t l = 0; l < spec_.blocks; ++l) {
    if (stop.stop_requested()) return Cancelled("the analysis was cancelled");
    const BlockTap tap(observer, l);
    tap(Site::kResidPre, x);
    const at::Tensor attention = Attention(l, x, batch, rope, observer);
    tap(Site::kAttnOut, attention);
    // A tap may keep what it was shown, so the stream is never written to in place.
    x = x + attention;
    tap(Site::kResidMid, x);
    x = AddMlp(spec_, weights_.blocks[static_cast<size_t>(l)], x, tap);
    tap(Site::kResidPost, x);
  }
  const BlockTap tap(observer, spec_.blocks - 1);
  if (observer.Wants(Site::kFinalNorm, spec_.blocks - 1)) {
    tap(Site::kFinalNorm, RmsNorm(x, weights_.final_norm, spec_.norm_epsilon));
  }
  return absl::OkStatus();
}

at::Tensor Decoder::Attention(int64_t block, const at::Tensor& x, const PackedBatch& batch,
                              const RopeTables& rope, TapObserver& observer) const {
  const BlockWeights& w = weights_.blocks[static_cast<size_t>(block)];
  const int64_t heads = spec_.heads;
  const int64_t kv_heads = spec_.kv_heads;
  const at::Tensor in = RmsNorm(x, w.attention_norm, spec_.norm_epsilon);
  const at::Tensor qkv =
      at::linear(in, w.qkv, w.qkv_bias).view({x.size(0), heads + 2 * kv_heads, spec_.head_size});
  at::Tensor q = qkv.narrow(1, 0, heads);
  at::Tensor k = qkv.narrow(1, heads, kv_heads);
  if (spec_.head_norms) {
    q = RmsNorm(q, w.q_norm, spec_.norm_epsilon);
    k = RmsNorm(k, w.k_norm, spec_.norm_epsilon);
  }
  // Scores of hundreds do occur, and bfloat16 would round them to whole units: float32 from here.
  q = q.to(at::kFloat);
  k = k.to(at::kFloat);
  const at::Tensor v = qkv.narrow(1, heads + kv_heads, kv_heads).to(at::kFloat);
  std::vector<at::Tensor> mixed;
  for (size_t s = 0; s + 1 < batch.offsets.size(); ++s) {
    const int64_t first = batch.offsets[s];
    const int64_t rows = batch.offsets[s + 1] - first;
    mixed.push_back(Attend({.q = Rotate(q.narrow(0, first, rows), rope),
                            .k = Rotate(k.narrow(0, first, rows), rope),
                            .v = v.narrow(0, first, rows),
                            .scale = 1.0 / std::sqrt(static_cast<double>(spec_.head_size)),
                            .window = spec_.window[static_cast<size_t>(block)]},
                           &observer, block, static_cast<int64_t>(s)));
  }
  const at::Tensor joined = mixed.size() == 1 ? mixed.front() : at::cat(mixed);
  return at::linear(joined.to(w.output.scalar_type()), w.output, w.output_bias);
}

}  // namespace sinkd
