#include "server/analysis/weakest_block.h"

#include <algorithm>
#include <vector>

namespace sinkd {

std::optional<int32_t> WeakestBlock(const SampleRecord& record) {
  if (!record.compensation) return std::nullopt;
  const std::vector<float>& attention = record.compensation->primary;
  // Block l reads the state that block l - 1 writes, layer l - 1.
  const int64_t first = record.window_start + 1;
  const int64_t end = std::min<int64_t>(record.window_end + 1, std::ssize(attention));
  if (first >= end) return std::nullopt;
  const auto weakest = std::min_element(attention.begin() + first, attention.begin() + end);
  return static_cast<int32_t>(weakest - attention.begin());
}

}  // namespace sinkd
