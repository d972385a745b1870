// BlockTap: an observer as one block sees it. Internal to the engine.
#pragma once

#include "server/engine/taps.h"

namespace sinkd {

class BlockTap {
 public:
  BlockTap(TapObserver& observer, int64_t block) : observer_(observer), block_(block) {}
  void operator()(Site site, const at::Tensor& rows, int64_t first_row = 0) const {
    if (observer_.Wants(site, block_)) observer_.OnRows(site, block_, first_row, rows);
  }

 private:
  TapObserver& observer_;
  int64_t block_;
};

}  // namespace sinkd
