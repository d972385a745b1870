// "Did you mean": the known word nearest to an unknown one.
//
// Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinkd::cli {

// Letters to insert, delete, replace or swap with their neighbour to turn `a` into `b`.
size_t EditDistance(std::string_view a, std::string_view b);

// "; did you mean \"x\"?" for the candidate nearest to `word`, empty when none is near.
std::string Suggest(std::string_view word, std::span<const char* const> candidates);
std::string Suggest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace sinkd::cli
