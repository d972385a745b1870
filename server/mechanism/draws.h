// Draws of a study: what it draws from base/seeded_draws.h, the same on every platform for a seed.
//
// Thread-safety: one thread at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "server/base/seeded_draws.h"

namespace sinkd {

class Draws {
 public:
  explicit Draws(uint64_t seed) : draws_(seed) {}

  // In [0, count); count > 0.
  int64_t Index(int64_t count) {
    return static_cast<int64_t>(draws_.Index(static_cast<uint64_t>(count)));
  }

  // min(wanted, count) different indices below `count`, in the order drawn. Takes memory for those
  // drawn only.
  std::vector<int64_t> Choose(int64_t count, int64_t wanted);

  // min(wanted, size) of `values`, without replacement, in the order drawn.
  std::vector<int64_t> ChooseFrom(const std::vector<int64_t>& values, int64_t wanted);

  // A direction of length 1, all equally likely: normal values, scaled.
  std::vector<float> UnitVector(int64_t size);

 private:
  SeededDraws draws_;
};

}  // namespace sinkd
