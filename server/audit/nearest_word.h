// "Did you mean": the known word nearest to an unknown one.
//
// Thread-safety: pure function.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sinkd {

// The word that the fewest letters inserted, deleted or replaced turn `word` into; empty when that
// takes more than a third of its letters and more than one.
std::string_view NearestWord(std::string_view word, std::span<const std::string_view> known);

}  // namespace sinkd
