// Slopes of attention biases that fall with distance (ALiBi, arXiv 2108.12409, section 3).
#pragma once

#include <cstdint>
#include <vector>

namespace sinkd {

// Of `heads` heads: powers of 2^(-8 / n), n the power of two below `heads` or equal to it; and,
// past n heads, every second of the powers for 2n.
std::vector<double> AlibiSlopes(int64_t heads);

}  // namespace sinkd
