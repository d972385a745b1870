// BlockTap: an observer as one block sees it, over one group of rows. Internal to the engine.
#pragma once

#include "server/engine/taps/taps.h"

namespace sinkd {

class BlockTap {
 public:
  BlockTap(TapObserver& observer, int64_t block, int64_t group_row)
      : observer_(observer), block_(block), group_row_(group_row) {}

  bool Wants(Site site) const { return observer_.Wants(site, block_); }

  // `first_row` counts from the group's first.
  void operator()(Site site, const at::Tensor& rows, int64_t first_row = 0) const {
    if (observer_.Wants(site, block_)) observer_.OnRows(site, block_, group_row_ + first_row, rows);
  }

 private:
  TapObserver& observer_;
  int64_t block_;
  int64_t group_row_;
};

}  // namespace sinkd
