#include <limits>

#include <ATen/ATen.h>

#include "server/base/status.h"
#include "server/engine/forward/norm.h"
#include "server/engine/numerics/host_values.h"
#include "server/engine/state_statistics.h"
#include "server/engine/taps/sample_observer.h"

namespace sinkd {
namespace {

class NormObserver final : public SampleObserver {
 public:
  bool Wants(Site site, int64_t /*block*/) const override {
    return site == Site::kKey || site == Site::kValue || site == Site::kResidPost;
  }

  void OnRows(Site site, int64_t /*block*/, int64_t /*first_row*/,
              const at::Tensor& rows) override {
    std::vector<at::Tensor>& norms = site == Site::kKey     ? key_
                                     : site == Site::kValue ? value_
                                                            : state_;
    norms.push_back(EuclideanNorms(rows));
    if (site == Site::kResidPost) FillUp();
  }

  void Finish() override {
    norms_.layers = static_cast<int64_t>(state_.size());
    norms_.positions = state_.front().size(0);
    norms_.key = OnHost(key_);
    norms_.value = OnHost(value_);
    norms_.state = OnHost(state_);
  }

  RowNorms& norms() { return norms_; }

 private:
  // A block without attention shows neither keys nor values.
  void FillUp() {
    for (std::vector<at::Tensor>* norms : {&key_, &value_}) {
      if (norms->size() == state_.size()) continue;
      norms->push_back(at::full_like(state_.back(), std::numeric_limits<float>::quiet_NaN()));
    }
  }

  static std::vector<float> OnHost(std::vector<at::Tensor>& blocks) {
    for (at::Tensor& block : blocks) block = block.to(at::kCPU);
    return HostValues<float>(at::cat(blocks));
  }

  std::vector<at::Tensor> key_, value_, state_;  // [T] float32 of each block, on its device
  RowNorms norms_;
};

}  // namespace

absl::StatusOr<RowNorms> MeasureNorms(const Model& model, const TokenIds& ids,
                                      std::stop_token stop) {
  NormObserver observer;
  SINKD_RETURN_IF_ERROR(ShowSample(model, ids, observer, stop));
  return std::move(observer.norms());
}

}  // namespace sinkd
