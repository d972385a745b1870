#include "server/engine/memory/best_fit.h"

#include <iterator>

namespace sinkd {

std::optional<int64_t> BestFit::Take(int64_t bytes) {
  auto best = holes_.end();
  for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {
    if (hole->second < bytes) continue;
    if (best == holes_.end() || hole->second < best->second) best = hole;
  }
  int64_t begin = end_;
  if (best != holes_.end()) {
    begin = best->first;
    const int64_t left = best->second - bytes;
    holes_.erase(best);
    if (left > 0) holes_[begin + bytes] = left;
  } else {
    // A hole that ends where the stretch does is the beginning of the new block.
    const auto last = holes_.empty() ? holes_.end() : std::prev(holes_.end());
    const bool touches = last != holes_.end() && last->first + last->second == end_;
    if (touches) begin = last->first;
    if (bytes > limit_ - begin) return std::nullopt;
    if (touches) holes_.erase(last);
    end_ = begin + bytes;
  }
  blocks_[begin] = bytes;
  return begin;
}

void BestFit::Give(int64_t begin) {
  const auto block = blocks_.find(begin);
  auto hole = holes_.emplace(begin, block->second).first;
  blocks_.erase(block);
  const auto next = std::next(hole);
  if (next != holes_.end() && begin + hole->second == next->first) {
    hole->second += next->second;
    holes_.erase(next);
  }
  if (hole == holes_.begin()) return;
  const auto before = std::prev(hole);
  if (before->first + before->second == begin) {
    before->second += hole->second;
    holes_.erase(hole);
  }
}

}  // namespace sinkd
