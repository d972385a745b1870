// Resampling: bootstrap draws of samples with replacement, and intervals over them.
//
// Draws are the same on every platform: std::mt19937_64 from the seed; draw after draw, each of S
// indices in turn, as SeededDraws::Index.
// Thread-safety: one thread at a time; PercentileInterval is pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "server/base/interval.h"
#include "server/base/seeded_draws.h"

namespace sinkd {

// Sums over points (x, y) of a sample, which a draw weighs by how often it has the sample.
struct PointSums {
  double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;

  void Add(double px, double py) { Add({1, px, py, px * px, py * py, px * py}, 1); }
  void Add(const PointSums& other, double weight) {
    n += weight * other.n;
    x += weight * other.x;
    y += weight * other.y;
    xx += weight * other.xx;
    yy += weight * other.yy;
    xy += weight * other.xy;
  }
};

class Resampling {
 public:
  Resampling(uint64_t seed, size_t samples) : draws_(seed), weights_(samples) {}

  // [S] how often each sample is drawn. Valid until the next call.
  const std::vector<int32_t>& Draw();

 private:
  SeededDraws draws_;
  std::vector<int32_t> weights_;
};

// From the 2.5% to the 97.5% quantile, linearly interpolated as numpy's default; empty without
// values.
std::optional<Interval> PercentileInterval(std::vector<double> values);

// Two-sided p value of 0: 2 (1 + draws on the rarer side of 0) / (1 + draws), at most 1. Where it
// is under 0.05, 0 is outside the interval above. Empty without values.
std::optional<double> BootstrapP(const std::vector<double>& values);

}  // namespace sinkd
