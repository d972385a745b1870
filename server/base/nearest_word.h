// "Did you mean": the known word nearest to an unknown one.
//
// Thread-safety: pure functions.
#pragma once

#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace sinkd {

// The shortest word that begins with `word`, where that has three letters or more; else the one
// that the fewest letters inserted, deleted, replaced or swapped with their neighbour turn `word`
// into, where that takes at most a third of its letters, or one; else empty. Views what `known`
// holds.
std::string_view NearestOf(std::string_view word, const std::vector<std::string_view>& known);

// The same, of anything that holds strings.
template <typename Words>
std::string_view NearestWord(std::string_view word, const Words& known) {
  return NearestOf(word, std::vector<std::string_view>(std::begin(known), std::end(known)));
}

// `; did you mean "x"?`, or nothing.
template <typename Words>
std::string DidYouMean(std::string_view word, const Words& known) {
  const std::string_view nearest = NearestWord(word, known);
  return nearest.empty() ? "" : "; did you mean \"" + std::string(nearest) + "\"?";
}

}  // namespace sinkd
