// TraceBuilder: the tap that turns a forward pass into traces, on the model's device, one small
// copy to the host at the end. Internal to the engine.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "server/engine/decoder_spec.h"
#include "server/engine/taps.h"
#include "server/engine/trace.h"

namespace sinkd {

class TraceBuilder : public TapObserver {
 public:
  // `offsets` as in PackedBatch.
  TraceBuilder(const DecoderSpec& spec, const TraceRequest& request, std::vector<int64_t> offsets,
               const at::Device& device);

  bool Wants(Site site, int64_t block) const override;
  void OnRows(Site site, int64_t block, int64_t first_row, const at::Tensor& rows) override;
  bool WantsAttention(int64_t block) const override;
  void OnAttention(const AttentionStrip& strip) override;

  // One trace per sample; call once, after the pass.
  std::vector<Trace> Finish();

 private:
  int64_t Begin(int64_t sample) const { return offsets_[static_cast<size_t>(sample)]; }
  int64_t Length(int64_t sample) const { return Begin(sample + 1) - Begin(sample); }
  int64_t Samples() const { return static_cast<int64_t>(offsets_.size()) - 1; }
  void OnState(int64_t layer, int64_t first_row, const at::Tensor& rows);

  const int64_t layers_;
  const int64_t heads_;
  const TraceRequest request_;
  const std::vector<int64_t> offsets_;
  at::Tensor state_norm_;                   // [L, N] float32
  at::Tensor mlp_norm_;                     // [L, N] float32
  std::vector<at::Tensor> cosine_;          // per sample [L, candidates, T] float32
  std::vector<at::Tensor> attention_sum_;   // per sample [L, H, T] float32
  std::vector<at::Tensor> attention_self_;  // per sample [L, H, T] float32
  std::vector<at::Tensor> prefix_sum_;      // per sample [L, H, P] float32
  std::vector<at::Tensor> sink_mass_;  // per sample [L, H] float64; empty without learned sinks
  at::Tensor column_sum_;              // [heads, T] float64, of the strips under way
};

}  // namespace sinkd
