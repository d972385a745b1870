#include "server/analysis/compensation_bootstrap.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "server/analysis/resampling.h"

namespace sinkd {
namespace {

using Samples = std::span<const CompensationSample* const>;

// All (sample, block of its window) pairs, in the order of the samples.
struct Pairs {
  std::vector<double> x, y;    // primary, secondary mass
  std::vector<size_t> sample;  // which sample each is from
};

Pairs MakePairs(Samples samples) {
  Pairs pairs;
  for (size_t s = 0; s < samples.size(); ++s) {
    for (size_t i = 0; i < samples[s]->blocks.size(); ++i) {
      if (!samples[s]->InWindow(i)) continue;
      pairs.x.push_back(samples[s]->Curve(&v1::CompensationCurves::primary)[i]);
      pairs.y.push_back(samples[s]->Curve(&v1::CompensationCurves::secondary)[i]);
      pairs.sample.push_back(s);
    }
  }
  return pairs;
}

double Ratio(double xy, double xx, double yy) {
  return std::clamp(xy / (std::sqrt(xx) * std::sqrt(yy)), -1.0, 1.0);
}

// Pearson's r of a draw from sums per sample, so that a draw costs S steps.
class PearsonDraws {
 public:
  PearsonDraws(const Pairs& pairs, size_t samples) : sums_(samples) {
    const double n = static_cast<double>(pairs.x.size());
    // Around the overall means, so that the differences of sums below lose nothing that matters.
    const double x_mean = std::accumulate(pairs.x.begin(), pairs.x.end(), 0.0) / n;
    const double y_mean = std::accumulate(pairs.y.begin(), pairs.y.end(), 0.0) / n;
    for (size_t i = 0; i < pairs.x.size(); ++i) {
      sums_[pairs.sample[i]].Add(pairs.x[i] - x_mean, pairs.y[i] - y_mean);
    }
  }

  void Add(const std::vector<int32_t>& weights) {
    PointSums t;
    for (size_t s = 0; s < sums_.size(); ++s) t.Add(sums_[s], weights[s]);
    const double xx = t.xx - t.x * t.x / t.n, yy = t.yy - t.y * t.y / t.n;
    // A draw of equal values leaves rounding, not zero.
    constexpr double kRounding = 1e-12;
    if (xx <= kRounding * t.xx || yy <= kRounding * t.yy) return;
    values_.push_back(Ratio(t.xy - t.x * t.y / t.n, xx, yy));
  }

  std::optional<Interval> Result() const { return PercentileInterval(values_); }
  std::optional<double> P() const { return BootstrapP(values_); }

 private:
  std::vector<PointSums> sums_;
  std::vector<double> values_;
};

// Mid-ranks of one axis within a draw. The order of the values never changes, so that they are
// sorted once, and a draw only counts weights along the distinct values.
class DrawnRanks {
 public:
  explicit DrawnRanks(const std::vector<double>& values) : group_(values.size()) {
    std::vector<size_t> order(values.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return values[a] < values[b]; });
    size_t groups = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      if (i > 0 && values[order[i]] != values[order[i - 1]]) ++groups;
      group_[order[i]] = groups;
    }
    ranks_.resize(groups + 1);
  }

  void Update(const Pairs& pairs, const std::vector<int32_t>& weights) {
    std::fill(ranks_.begin(), ranks_.end(), 0.0);
    for (size_t i = 0; i < group_.size(); ++i) ranks_[group_[i]] += weights[pairs.sample[i]];
    double before = 0;
    for (double& rank : ranks_) {
      const double weight = rank;
      rank = before + (weight + 1) / 2;
      before += weight;
    }
    middle_ = (before + 1) / 2;
  }

  double Deviation(size_t pair) const { return ranks_[group_[pair]] - middle_; }

 private:
  std::vector<size_t> group_;  // [pairs] which distinct value, ascending
  std::vector<double> ranks_;  // [distinct values]
  double middle_ = 0;
};

class SpearmanDraws {
 public:
  explicit SpearmanDraws(const Pairs& pairs) : pairs_(pairs), x_(pairs.x), y_(pairs.y) {}

  void Add(const std::vector<int32_t>& weights) {
    x_.Update(pairs_, weights);
    y_.Update(pairs_, weights);
    double xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < pairs_.x.size(); ++i) {
      const double weight = weights[pairs_.sample[i]];
      const double x = x_.Deviation(i), y = y_.Deviation(i);
      xx += weight * x * x;
      yy += weight * y * y;
      xy += weight * x * y;
    }
    if (xx > 0 && yy > 0) values_.push_back(Ratio(xy, xx, yy));
  }

  std::optional<Interval> Result() const { return PercentileInterval(values_); }
  std::optional<double> P() const { return BootstrapP(values_); }

 private:
  const Pairs& pairs_;
  DrawnRanks x_, y_;
  std::vector<double> values_;
};

// Means over samples of one curve, block by block.
class MeanDraws {
 public:
  MeanDraws(Samples samples, CompensationCurve curve)
      : samples_(samples), curve_(curve), values_(samples[0]->Curve(curve).size()) {}

  void Add(const std::vector<int32_t>& weights) {
    std::vector<double> sums(values_.size(), 0.0);
    for (size_t s = 0; s < samples_.size(); ++s) {
      if (weights[s] == 0) continue;
      const std::span<const float> curve = samples_[s]->Curve(curve_);
      for (size_t l = 0; l < sums.size(); ++l) {
        sums[l] += static_cast<double>(weights[s]) * static_cast<double>(curve[l]);
      }
    }
    for (size_t l = 0; l < sums.size(); ++l) {
      values_[l].push_back(sums[l] / static_cast<double>(samples_.size()));
    }
  }

  std::vector<Interval> Result() {
    std::vector<Interval> intervals;
    for (std::vector<double>& values : values_) {
      intervals.push_back(*PercentileInterval(std::move(values)));
    }
    return intervals;
  }

 private:
  Samples samples_;
  CompensationCurve curve_;
  std::vector<std::vector<double>> values_;  // [A][draws]
};

int64_t AffordableDraws(int64_t wanted, Samples samples, const Pairs& pairs) {
  const size_t layers = samples[0]->blocks.size();
  const auto steps = static_cast<int64_t>(2 * samples.size() * layers + 4 * pairs.x.size());
  return std::min(wanted, std::max(kFewestDraws, kBootstrapSteps / std::max<int64_t>(steps, 1)));
}

}  // namespace

CompensationIntervals Bootstrap(const v1::CompensationParameters& parameters, Samples samples) {
  CompensationIntervals result;
  if (samples.size() < 2 || parameters.bootstrap_samples() <= 0) return result;
  const Pairs pairs = MakePairs(samples);
  result.draws = AffordableDraws(parameters.bootstrap_samples(), samples, pairs);
  MeanDraws primary(samples, &v1::CompensationCurves::primary);
  MeanDraws secondary(samples, &v1::CompensationCurves::secondary);
  PearsonDraws pearson(pairs, samples.size());
  SpearmanDraws spearman(pairs);
  Resampling drawer(static_cast<uint64_t>(parameters.seed()), samples.size());
  for (int64_t i = 0; i < result.draws; ++i) {
    const std::vector<int32_t>& weights = drawer.Draw();
    primary.Add(weights);
    secondary.Add(weights);
    pearson.Add(weights);
    spearman.Add(weights);
  }
  result.primary = primary.Result();
  result.secondary = secondary.Result();
  result.pearson = pearson.Result();
  result.spearman = spearman.Result();
  result.pearson_p = pearson.P();
  result.spearman_p = spearman.P();
  return result;
}

}  // namespace sinkd
