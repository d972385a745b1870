#include <cmath>

#include <ATen/ATen.h>

#include "server/base/parameter_check.h"
#include "server/base/status.h"
#include "server/engine/families/range_checks.h"
#include "server/engine/numerics/matrix_entropy.h"
#include "server/engine/state_statistics.h"
#include "server/engine/taps/sample_observer.h"

namespace sinkd {
namespace {

class EntropyObserver final : public SampleObserver {
 public:
  EntropyObserver(std::span<const std::vector<int64_t>> windows, double alpha)
      : windows_(windows), alpha_(alpha), blocks_(windows.size()) {}

  void OnRows(Site /*site*/, int64_t /*block*/, int64_t /*first_row*/,
              const at::Tensor& rows) override {
    for (size_t w = 0; w < windows_.size(); ++w) blocks_[w].push_back(Measure(rows, windows_[w]));
  }

  std::vector<std::vector<BlockEntropy>>& blocks() { return blocks_; }

 private:
  BlockEntropy Measure(const at::Tensor& rows, const std::vector<int64_t>& positions) const {
    if (positions.empty()) return {.undefined = "no positions"};
    const at::Tensor states =
        rows.index_select(0, at::tensor(positions, at::kLong).to(rows.device()));
    if (!at::isfinite(states).all().item<bool>()) return {.undefined = "a state is not finite"};
    const double entropy = EntropyOfRows(states, alpha_);
    if (std::isnan(entropy)) return {.undefined = "all states are zero"};
    return {.entropy = entropy, .undefined = {}};
  }

  const std::span<const std::vector<int64_t>> windows_;
  const double alpha_;
  std::vector<std::vector<BlockEntropy>> blocks_;  // [windows][L]
};

}  // namespace

absl::StatusOr<std::vector<std::vector<BlockEntropy>>> MeasureEntropy(
    const Model& model, const TokenIds& ids, std::span<const std::vector<int64_t>> windows,
    double alpha, std::stop_token stop) {
  SINKD_RETURN_IF_ERROR(
      CheckParameter(std::isfinite(alpha) && alpha > 0, "alpha", alpha, "finite, and over 0"));
  for (const std::vector<int64_t>& positions : windows) {
    SINKD_RETURN_IF_ERROR(CheckPositions(positions, static_cast<int64_t>(ids.size())));
  }
  EntropyObserver observer(windows, alpha);
  SINKD_RETURN_IF_ERROR(ShowSample(model, ids, observer, stop));
  return std::move(observer.blocks());
}

}  // namespace sinkd
