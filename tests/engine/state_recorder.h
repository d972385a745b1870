// StateRecorder: a tap that keeps every layer's state, for comparing whole tensors.
#pragma once

#include <vector>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include "server/engine/forward/model_internals.h"

namespace sinkd::testing {

class StateRecorder : public TapObserver {
 public:
  explicit StateRecorder(int64_t blocks) : blocks_(blocks) {}

  bool Wants(Site site, int64_t) const override {
    return site == Site::kResidPost || site == Site::kFinalNorm;
  }
  // Of one group of rows: the samples here are alone in their batch.
  void OnRows(Site site, int64_t block, int64_t, const at::Tensor& rows) override {
    const at::Tensor wide = rows.to(at::kFloat).to(at::kCPU);
    if (site == Site::kFinalNorm) {
      states_.back() = wide;
    } else {
      states_.push_back(wide);
      if (block == blocks_ - 1) last_raw_ = wide;
    }
  }

  // [T, C] of each layer, the last one after the final norm (and, in OPT-350m, projected out).
  const std::vector<at::Tensor>& states() const { return states_; }
  const at::Tensor& last_raw() const { return last_raw_; }  // [T, C]

 private:
  int64_t blocks_;
  std::vector<at::Tensor> states_;
  at::Tensor last_raw_;
};

// Runs one sample past `observer`.
inline void ShowTo(TapObserver& observer, const Model::Internals& internals, const TokenIds& ids) {
  const c10::InferenceMode inference;
  const TokenIds batch[] = {ids};
  const absl::Status status = internals.decoder.Forward(
      Pack(batch, internals.outer.embedding.device()), observer, std::stop_token());
  if (!status.ok()) std::abort();
}

inline StateRecorder RecordStates(const Model::Internals& internals, const TokenIds& ids) {
  StateRecorder recorder(internals.spec.blocks);
  ShowTo(recorder, internals, ids);
  return recorder;
}

}  // namespace sinkd::testing
