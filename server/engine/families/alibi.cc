#include "server/engine/families/alibi.h"

#include <bit>
#include <cmath>

namespace sinkd {

std::vector<double> AlibiSlopes(int64_t heads) {
  constexpr double kSpan = 8;
  const auto below = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(heads)));
  std::vector<double> slopes;
  for (int64_t h = 0; h < heads; ++h) {
    const bool past = h >= below;
    const auto power = static_cast<double>(past ? 2 * (h - below) + 1 : h + 1);
    slopes.push_back(std::exp2(-power * kSpan / static_cast<double>(past ? 2 * below : below)));
  }
  return slopes;
}

}  // namespace sinkd
