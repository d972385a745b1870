// SiteRecorder: a tap that keeps what it is shown at every site of every block.
#pragma once

#include <map>
#include <string>

#include <ATen/ATen.h>
#include <absl/strings/str_cat.h>

#include "server/engine/taps.h"

namespace sinkd::testing {

constexpr const char* SiteName(Site site) {
  switch (site) {
    case Site::kResidPre:
      return "resid_pre";
    case Site::kAttnOut:
      return "attn_out";
    case Site::kResidMid:
      return "resid_mid";
    case Site::kMlpIn:
      return "mlp_in";
    case Site::kGate:
      return "gate";
    case Site::kUp:
      return "up";
    case Site::kAct:
      return "act";
    case Site::kProduct:
      return "product";
    case Site::kMlpOut:
      return "mlp_out";
    case Site::kResidPost:
      return "resid_post";
    case Site::kFinalNorm:
      return "final_norm";
  }
  return "";
}

class SiteRecorder : public TapObserver {
 public:
  bool Wants(Site, int64_t) const override { return true; }
  void OnRows(Site site, int64_t block, int64_t first_row, const at::Tensor& rows) override {
    at::Tensor& kept = shown_[absl::StrCat(SiteName(site), ".", block)];
    const at::Tensor wide = rows.to(at::kFloat).to(at::kCPU);
    kept = first_row == 0 ? wide : at::cat({kept, wide});
  }
  bool WantsAttention(int64_t) const override { return false; }
  void OnAttention(const AttentionStrip&) override {}

  // "site.block" -> [T, width] float32.
  const std::map<std::string, at::Tensor>& shown() const { return shown_; }

 private:
  std::map<std::string, at::Tensor> shown_;
};

}  // namespace sinkd::testing
