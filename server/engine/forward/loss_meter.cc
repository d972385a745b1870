#include "server/engine/forward/loss_meter.h"

#include <utility>

#include <ATen/ATen.h>

namespace sinkd {

LossMeter::LossMeter(const Head& head, const PackedBatch& batch, std::stop_token stop)
    : head_(head),
      offsets_(batch.offsets),
      stop_(std::move(stop)),
      targets_(batch.ids.roll(-1)),
      losses_(at::zeros(batch.ids.sizes(), batch.ids.options().dtype(at::kDouble))) {}

void LossMeter::OnRows(Site, int64_t, int64_t first_row, const at::Tensor& rows) {
  const at::Tensor targets = targets_.narrow(0, first_row, rows.size(0));
  losses_.narrow(0, first_row, rows.size(0)).copy_(head_.Losses(rows, targets, stop_));
}

std::vector<std::optional<double>> LossMeter::Finish() const {
  std::vector<std::optional<double>> means;
  for (size_t s = 0; s + 1 < offsets_.size(); ++s) {
    const int64_t predictions = offsets_[s + 1] - offsets_[s] - 1;
    std::optional<double>& mean = means.emplace_back();
    if (predictions > 0) mean = losses_.narrow(0, offsets_[s], predictions).mean().item<double>();
  }
  return means;
}

}  // namespace sinkd
