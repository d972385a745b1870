// "Did you mean": the known word that is most similar to an unknown one.
//
// Thread-safety: pure functions.
#pragma once

#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace sinkd {

// If `word` has three letters or more, the shortest known word that begins with it. Else the known
// word with the smallest edit distance from `word` (insertions, deletions, replacements, swaps of
// neighbours), if that is at most a third of its letters, or one. Else empty. The result is a view
// into `known`.
std::string_view NearestOf(std::string_view word, const std::vector<std::string_view>& known);

// The same for any container of strings.
template <typename Words>
std::string_view NearestWord(std::string_view word, const Words& known) {
  return NearestOf(word, std::vector<std::string_view>(std::begin(known), std::end(known)));
}

// `; did you mean "x"?`, or an empty string.
template <typename Words>
std::string DidYouMean(std::string_view word, const Words& known) {
  const std::string_view nearest = NearestWord(word, known);
  return nearest.empty() ? "" : "; did you mean \"" + std::string(nearest) + "\"?";
}

}  // namespace sinkd
