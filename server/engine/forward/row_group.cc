#include "server/engine/forward/row_group.h"

namespace sinkd {

std::vector<EqualSamples> GroupByLength(const std::vector<int64_t>& offsets) {
  std::vector<EqualSamples> all;
  for (size_t s = 0; s + 1 < offsets.size(); ++s) {
    const int64_t length = offsets[s + 1] - offsets[s];
    if (all.empty() || all.back().length != length) {
      all.push_back({.first = static_cast<int64_t>(s), .first_row = offsets[s], .length = length});
    }
    ++all.back().samples;
  }
  return all;
}

std::vector<RowGroup> GroupRows(const std::vector<int64_t>& offsets, int64_t rows) {
  std::vector<RowGroup> groups;
  for (size_t s = 0; s + 1 < offsets.size(); ++s) {
    const int64_t length = offsets[s + 1] - offsets[s];
    if (groups.empty() || groups.back().rows() + length > rows) {
      groups.push_back({static_cast<int64_t>(s), offsets[s], {0}});
    }
    groups.back().offsets.push_back(groups.back().rows() + length);
  }
  return groups;
}

}  // namespace sinkd
