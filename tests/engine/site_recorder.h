// SiteRecorder: a tap that keeps what it is shown at every site of every block.
#pragma once

#include <map>
#include <string>

#include <ATen/ATen.h>

#include "server/base/str_cat.h"
#include "server/engine/taps/taps.h"

namespace sinkd::testing {

class SiteRecorder : public TapObserver {
 public:
  bool Wants(Site, int64_t) const override { return true; }
  void OnRows(Site site, int64_t block, int64_t first_row, const at::Tensor& rows) override {
    at::Tensor& kept = shown_[StrCat(SiteName(site), ".", block)];
    const at::Tensor wide = rows.to(at::kFloat).to(at::kCPU);
    kept = first_row == 0 ? wide : at::cat({kept, wide});
  }

  // "site.block" -> [T, width] float32.
  const std::map<std::string, at::Tensor>& shown() const { return shown_; }

 private:
  std::map<std::string, at::Tensor> shown_;
};

}  // namespace sinkd::testing
