#include "client/cli/terminal/suggestion.h"

#include <algorithm>

namespace sinkd::cli {
namespace {

constexpr size_t kLongestWord = 64;

}  // namespace

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const size_t replace = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

std::string Suggest(std::string_view word, std::span<const char* const> candidates) {
  if (word.size() > kLongestWord) return {};
  const char* nearest = nullptr;
  size_t distance = word.size() / 3 + 1;
  for (const char* candidate : candidates) {
    const size_t edits = EditDistance(word, candidate);
    if (edits <= distance && (nearest == nullptr || edits < distance)) {
      nearest = candidate;
      distance = edits;
    }
  }
  if (nearest == nullptr) return {};
  return std::string("; did you mean \"") + nearest + "\"?";
}

std::string Suggest(std::string_view word, const std::vector<std::string>& candidates) {
  std::vector<const char*> pointers;
  for (const std::string& candidate : candidates) pointers.push_back(candidate.c_str());
  return Suggest(word, pointers);
}

}  // namespace sinkd::cli
