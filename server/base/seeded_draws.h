// SeededDraws: random draws that are the same on every platform for a given seed, unlike those of
// the standard library's distributions.
//
// Thread-safety: one thread at a time.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

namespace sinkd {

class SeededDraws {
 public:
  explicit SeededDraws(uint64_t seed) : generator_(seed) {}

  // In [0, count); count > 0. The next output x of std::mt19937_64 that is at least
  // (2^64 - count) mod count, mod count; smaller ones are skipped, which makes it exactly uniform.
  uint64_t Index(uint64_t count) {
    const uint64_t skipped = (0 - count) % count;
    uint64_t x = generator_();
    while (x < skipped) x = generator_();
    return x % count;
  }

  // In [0, 1): one of 2^53 equally likely numbers.
  double Uniform() { return std::ldexp(static_cast<double>(generator_() >> 11), -53); }

  // From the standard normal distribution, by the Box-Muller transform.
  double Normal() {
    const double radius = std::sqrt(-2 * std::log1p(-Uniform()));
    return radius * std::cos(2 * std::numbers::pi * Uniform());
  }

 private:
  std::mt19937_64 generator_;
};

}  // namespace sinkd
