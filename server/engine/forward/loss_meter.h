// LossMeter: the tap that takes the next-token loss of a pass. Internal to the engine.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include <ATen/core/Tensor.h>

#include "server/engine/forward/decoder_pass.h"
#include "server/engine/forward/head.h"
#include "server/engine/taps/taps.h"

namespace sinkd {

class LossMeter final : public TapObserver {
 public:
  // `head` is borrowed and must outlive the meter, which must not be read once `stop` is triggered.
  LossMeter(const Head& head, const PackedBatch& batch, std::stop_token stop);

  bool Wants(Site site, int64_t) const override { return site == Site::kFinalNorm; }
  void OnRows(Site site, int64_t block, int64_t first_row, const at::Tensor& rows) override;

  // Of each sample, the mean over t < T-1 of -ln p(token t+1) in nats; empty where T is 1.
  std::vector<std::optional<double>> Finish() const;

 private:
  const Head& head_;
  const std::vector<int64_t> offsets_;
  const std::stop_token stop_;
  at::Tensor targets_;  // [N] int64: the next token; of a sample's last row, anything
  at::Tensor losses_;   // [N] float64
};

}  // namespace sinkd
