// PredictionMeter: the tap that takes what a pass predicts, position by position. Internal to the
// engine.
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include <ATen/core/Tensor.h>

#include "server/engine/forward/decoder_pass.h"
#include "server/engine/forward/head.h"
#include "server/engine/intervention.h"
#include "server/engine/taps/taps.h"

namespace sinkd {

class PredictionMeter final : public TapObserver {
 public:
  // `head` and `base` are borrowed and must outlive the meter, which must not be read once `stop`
  // is triggered. `base`: null, or of a pass over the one sample that every sample of `batch` is.
  PredictionMeter(const Head& head, const PackedBatch& batch, const RowPredictions* base,
                  std::stop_token stop);

  bool Wants(Site site, int64_t) const override { return site == Site::kFinalNorm; }
  void OnRows(Site site, int64_t block, int64_t first_row, const at::Tensor& rows) override;

  // Of all rows of the batch, once the pass is done.
  RowPredictions Rows() const;
  // Of each sample.
  std::vector<Predictions> Finish() const;

 private:
  const Head& head_;
  const RowPredictions* const base_;
  const std::vector<int64_t> offsets_;
  const std::stop_token stop_;
  const at::Tensor targets_;  // [N] int64: the next token; of a sample's last row, anything
  std::vector<RowPredictions> parts_;
};

}  // namespace sinkd
