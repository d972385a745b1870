#include "server/analysis/weakest_block.h"

#include <iterator>
#include <vector>

namespace sinkd {

std::optional<int32_t> WeakestBlock(const SampleRecord& record) {
  if (!record.compensation) return std::nullopt;
  const std::vector<float>& attention = record.compensation->primary;
  std::optional<int64_t> weakest;
  for (int64_t i = 0; i < std::ssize(attention); ++i) {
    // Block l reads the state that block l - 1 writes, layer l - 1.
    const int32_t block = record.AttentionBlock(i);
    if (block <= record.window_start || block > record.window_end) continue;
    const auto at = static_cast<size_t>(i);
    if (!weakest || attention[at] < attention[static_cast<size_t>(*weakest)]) weakest = i;
  }
  if (!weakest) return std::nullopt;
  return record.AttentionBlock(*weakest);
}

}  // namespace sinkd
