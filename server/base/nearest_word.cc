#include "server/base/nearest_word.h"

#include <algorithm>
#include <utility>

namespace sinkd {
namespace {

constexpr size_t kLongestWord = 64;
constexpr size_t kShortestStart = 3;

// The optimal string alignment distance, of which three rows are kept.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before;
  std::vector<size_t> above(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = above[j] + (a[i] == b[j] ? 0 : 1);
      row[j + 1] = std::min({replaced, above[j + 1] + 1, row[j] + 1});
      const bool swapped = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
      if (swapped) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::string_view NearestOf(std::string_view word, const std::vector<std::string_view>& known) {
  if (word.size() > kLongestWord) return {};
  std::string_view nearest;
  for (const std::string_view candidate : known) {
    const bool begins = word.size() >= kShortestStart && candidate.starts_with(word);
    if (begins && (nearest.empty() || candidate.size() < nearest.size())) nearest = candidate;
  }
  if (!nearest.empty()) return nearest;
  size_t least = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    if (candidate.size() >= word.size() + least) continue;
    const size_t distance = Distance(word, candidate);
    if (distance >= least) continue;
    least = distance;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace sinkd
