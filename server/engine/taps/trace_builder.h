// TraceBuilder: the tap that turns a forward pass into traces, on the model's device, one small
// copy to the host at the end. Internal to the engine.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "server/engine/decoder_spec.h"
#include "server/engine/forward/row_group.h"
#include "server/engine/taps/taps.h"
#include "server/engine/trace.h"

namespace sinkd {

class TraceBuilder : public TapObserver {
 public:
  // `offsets` and `ids` as in PackedBatch; ids are read where heads are requested.
  TraceBuilder(const DecoderSpec& spec, const TraceRequest& request,
               const std::vector<int64_t>& offsets, const at::Device& device,
               const at::Tensor& ids = {});

  bool Wants(Site site, int64_t block) const override;
  void OnRows(Site site, int64_t block, int64_t first_row, const at::Tensor& rows) override;
  bool WantsAttention(int64_t block) const override;
  at::Tensor Tokens() const override { return tokens_; }
  int64_t AttentionPrefix() const override { return request_.prefix; }
  void OnAttention(int64_t block, int64_t first_sample, const AttentionSums& sums) override;
  void OnValueNorms(int64_t block, int64_t first_row, const at::Tensor& norms) override;
  void OnGates(int64_t block, int64_t first_row, const at::Tensor& gates) override;

  // One trace per sample; call once, after the pass.
  std::vector<Trace> Finish();

 private:
  // Of samples that are equally long; float32 unless said otherwise.
  struct Equals {
    EqualSamples of;
    at::Tensor cosine;          // [S, L, candidates, T]
    at::Tensor attention_sum;   // [S, L, H, T]
    at::Tensor attention_self;  // [S, L, H, T]
    at::Tensor prefix_sum;      // [S, L, H, P]
    at::Tensor sink_mass;       // [S, L, H] float64; undefined without learned sinks
    at::Tensor rows;            // [S, L, H, kRowSums] float64; undefined unless requested
  };

  void OnMlpInput(int64_t first_row, const at::Tensor& rows);
  void OnState(int64_t layer, int64_t first_row, const at::Tensor& rows);
  const Equals& Holding(int64_t sample) const;

  const int64_t layers_;
  const int64_t heads_;
  std::vector<int32_t> attention_blocks_;
  const TraceRequest request_;
  at::Tensor state_norm_;  // [L, N] float32
  at::Tensor mlp_norm_;    // [L, N] float32
  at::Tensor outlier_;     // [N] float32
  at::Tensor gates_;       // [L, H, N] float32; undefined without gates
  at::Tensor tokens_;      // [N] int32; undefined unless heads are requested, as the norms
  at::Tensor value_norm_;  // [L, H, N] float32
  std::vector<Equals> equals_;
};

}  // namespace sinkd
