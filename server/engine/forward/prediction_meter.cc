#include "server/engine/forward/prediction_meter.h"

#include <utility>

#include <ATen/ATen.h>

#include "server/engine/numerics/host_values.h"

namespace sinkd {

PredictionMeter::PredictionMeter(const Head& head, const PackedBatch& batch,
                                 const RowPredictions* base, std::stop_token stop)
    : head_(head),
      base_(base),
      offsets_(batch.offsets),
      stop_(std::move(stop)),
      targets_(batch.ids.roll(-1)) {}

void PredictionMeter::OnRows(Site, int64_t, int64_t first_row, const at::Tensor& rows) {
  parts_.push_back(head_.Predict(rows, targets_.narrow(0, first_row, rows.size(0)), base_, stop_));
}

RowPredictions PredictionMeter::Rows() const {
  const auto all = [this](at::Tensor RowPredictions::*member) {
    std::vector<at::Tensor> tensors;
    for (const RowPredictions& part : parts_) {
      if ((part.*member).defined()) tensors.push_back(part.*member);
    }
    return tensors.empty() ? at::Tensor() : at::cat(tensors);
  };
  return {.states = all(&RowPredictions::states),
          .losses = all(&RowPredictions::losses),
          .log_total = all(&RowPredictions::log_total),
          .choices = all(&RowPredictions::choices),
          .divergence = all(&RowPredictions::divergence)};
}

std::vector<Predictions> PredictionMeter::Finish() const {
  const RowPredictions rows = Rows();
  std::vector<Predictions> samples;
  for (size_t s = 0; s + 1 < offsets_.size(); ++s) {
    // The last position's next token is not known.
    const auto some = [&](const at::Tensor& all) {
      return all.narrow(0, offsets_[s], offsets_[s + 1] - offsets_[s] - 1);
    };
    samples.push_back({.losses = HostValues<double>(some(rows.losses)),
                       .choices = HostValues<int64_t>(some(rows.choices)),
                       .divergence = rows.divergence.defined()
                                         ? HostValues<double>(some(rows.divergence))
                                         : std::vector<double>()});
  }
  return samples;
}

}  // namespace sinkd
