// Exact t-SNE with the schedule of scikit-learn's TSNE(method="exact"); forces are summed over
// strips of rows, so that the only [n, n] matrix kept is P.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <ATen/ATen.h>

#include "server/base/parameter_check.h"
#include "server/base/seeded_draws.h"
#include "server/base/status.h"
#include "server/base/work_beat.h"
#include "server/engine/decomposition.h"
#include "server/engine/numerics/matrix_input.h"
#include "server/engine/numerics/matrix_tensor.h"
#include "server/engine/numerics/principal_axes.h"

namespace sinkd {
namespace {

constexpr int64_t kStripElements = int64_t{1} << 19;  // of a [rows, n] strip: it stays in cache
constexpr int kBisections = 100;
constexpr double kEntropyTolerance = 1e-5;  // nats
constexpr int64_t kExaggerated = 250;       // first iterations
constexpr double kExaggeration = 12;
constexpr double kLeastLearningRate = 50;
constexpr double kLeastGain = 0.01;
constexpr double kStartDeviation = 1e-4;
constexpr double kJitter = 0.1;  // of the starts after the first, in deviations
// Small maps end in minima that differ by several percent, so that the best of a few is taken: as
// many as cost no more than one of 512 rows.
constexpr int64_t kStarts = 8;
constexpr int64_t kPairs = int64_t{1} << 18;
constexpr double kLeastProbability = 2.220446049250313e-16;

// Calls `work` with the first row and the number of rows of each strip.
void ForStrips(int64_t rows, const std::function<void(int64_t, int64_t)>& work) {
  const int64_t height = std::max<int64_t>(1, kStripElements / rows);
  for (int64_t first = 0; first < rows; first += height) {
    work(first, std::min(height, rows - first));
  }
}

// The diagonal of rows `first` and on of an [n, n] matrix.
at::Tensor OwnEntries(const at::Tensor& strip, int64_t first) {
  return strip.narrow(1, first, strip.size(0)).diagonal();
}

// Conditional probabilities of one strip from squared distances [rows, n] float64, by bisection of
// each row's precision until its entropy is that of the perplexity. Row i is row first + i of all.
at::Tensor ConditionalProbabilities(at::Tensor distances, int64_t first, double perplexity) {
  const int64_t n = distances.size(1);
  // Probabilities do not change when a row's distances do by a constant; the nearest has e^0 then.
  OwnEntries(distances, first).fill_(std::numeric_limits<double>::infinity());
  distances = distances - std::get<0>(distances.min(1, /*keepdim=*/true));
  OwnEntries(distances, first).zero_();
  const at::Tensor mean = distances.sum(1, /*keepdim=*/true) / static_cast<double>(n - 1);
  at::Tensor precision = at::where(mean > 0, mean.reciprocal(), at::ones_like(mean));
  at::Tensor low = at::zeros_like(mean);
  at::Tensor high = at::full_like(mean, std::numeric_limits<double>::infinity());
  const double target = std::log(perplexity);
  at::Tensor weights, sum;
  for (int i = 0; i < kBisections; ++i) {
    weights = (distances * precision).neg_().exp_();
    OwnEntries(weights, first).zero_();
    sum = weights.sum(1, /*keepdim=*/true);
    const at::Tensor entropy =
        sum.log() + precision * (weights * distances).sum(1, /*keepdim=*/true) / sum;
    const at::Tensor excess = entropy - target;
    if (excess.abs().max().item<double>() <= kEntropyTolerance) break;
    const at::Tensor flat = excess > 0;  // the precision must grow
    low = at::where(flat, precision, low);
    high = at::where(flat, high, precision);
    precision = at::where(high.isinf(), precision * 2, (low + high) / 2);
  }
  return weights / sum;
}

// P [n, n] float32: symmetric, its sum one, its diagonal zero. Unfinished when stopped.
at::Tensor JointProbabilities(const at::Tensor& rows, double perplexity,
                              const std::stop_token& stop) {
  const int64_t n = rows.size(0);
  const at::Tensor squares = rows.square().sum(1);
  const at::Tensor conditional = at::empty({n, n}, rows.options().dtype(at::kFloat));
  ForStrips(n, [&](int64_t first, int64_t height) {
    Beat();
    if (stop.stop_requested()) return;
    const at::Tensor products = at::matmul(rows.narrow(0, first, height), rows.t());
    const at::Tensor distances =
        (squares.narrow(0, first, height).unsqueeze(1) - 2 * products + squares).clamp_min_(0);
    conditional.narrow(0, first, height)
        .copy_(ConditionalProbabilities(distances, first, perplexity));
  });
  return (conditional + conditional.t()).div_(2 * static_cast<double>(n));
}

// [rows, columns] of the standard normal distribution.
at::Tensor DrawNormal(int64_t rows, int64_t columns, SeededDraws& draws) {
  const at::Tensor drawn = at::empty({rows, columns}, at::kDouble);
  std::generate_n(drawn.mutable_data_ptr<double>(), drawn.numel(), [&] { return draws.Normal(); });
  return drawn;
}

// Positions [n, 2] on the two strongest principal axes, of deviation one along the first. Where
// there is no second axis, or none, random numbers take its place: points on a line would stay
// there.
at::Tensor PrincipalMap(const at::Tensor& centred, SeededDraws& draws) {
  const PrincipalAxes axes = FindAxes(centred, 2);
  at::Tensor map = at::matmul(centred, axes.directions.t());
  const int64_t found = map.size(1);
  if (found > 0) map = map / map.select(1, 0).std(/*unbiased=*/false);
  return at::cat({map, DrawNormal(map.size(0), 2 - found, draws).to(map.device())}, 1);
}

// 1 / (1 + squared distance) of `height` points from `first` on to all others, 0 to themselves:
// [height, n].
at::Tensor Closeness(const at::Tensor& map, int64_t first, int64_t height) {
  const auto apart = [&](int64_t axis) {
    const at::Tensor all = map.select(1, axis);
    return all.narrow(0, first, height).unsqueeze(1) - all;
  };
  const at::Tensor y = apart(1);
  at::Tensor closeness = apart(0).square_().addcmul_(y, y).add_(1).reciprocal_();
  OwnEntries(closeness, first).zero_();
  return closeness;
}

struct Forces {
  at::Tensor attraction;  // [n, 2] sum over j of P_ij c_ij (y_i - y_j), c the closeness
  at::Tensor repulsion;   // [n, 2] sum over j of c_ij^2 (y_i - y_j)
  at::Tensor total;       // [] float64, sum of c_ij
};

Forces FindForces(const at::Tensor& joint, const at::Tensor& map) {
  const int64_t n = map.size(0);
  // A column of ones sums the weights in the same product that sums weighted positions.
  const at::Tensor extended = at::cat({map, at::ones({n, 1}, map.options())}, 1);
  Forces forces{.attraction = at::empty_like(map),
                .repulsion = at::empty_like(map),
                .total = at::zeros({}, map.options().dtype(at::kDouble))};
  ForStrips(n, [&](int64_t first, int64_t height) {
    const at::Tensor here = map.narrow(0, first, height);
    const auto pull = [&](const at::Tensor& weights) {
      const at::Tensor sums = at::matmul(weights, extended);
      return sums.narrow(1, 2, 1) * here - sums.narrow(1, 0, 2);
    };
    at::Tensor closeness = Closeness(map, first, height);
    forces.total.add_(closeness.sum());
    forces.attraction.narrow(0, first, height)
        .copy_(pull(joint.narrow(0, first, height) * closeness));
    forces.repulsion.narrow(0, first, height).copy_(pull(closeness.square_()));
  });
  return forces;
}

// KL(P || Q), in nats.
double Divergence(const at::Tensor& joint, const at::Tensor& map) {
  const int64_t n = map.size(0);
  const at::Tensor wide = map.to(at::kDouble);
  double total = 0;
  ForStrips(n, [&](int64_t first, int64_t height) {
    total += Closeness(wide, first, height).sum().item<double>();
  });
  double divergence = 0;
  ForStrips(n, [&](int64_t first, int64_t height) {
    const at::Tensor p = joint.narrow(0, first, height).to(at::kDouble);
    const at::Tensor q = (Closeness(wide, first, height) / total).clamp_min_(kLeastProbability);
    divergence += (at::xlogy(p, p) - at::xlogy(p, q)).sum().item<double>();
  });
  return divergence;
}

// Gradient descent with momentum and a gain per coordinate.
class Descent {
 public:
  Descent(const at::Tensor& joint, at::Tensor map)
      : joint_(joint),
        map_(std::move(map)),
        rate_(std::max(static_cast<double>(map_.size(0)) / kExaggeration / 4, kLeastLearningRate)) {
    Rest();
  }

  // Forgets how it moved.
  void Rest() {
    update_ = at::zeros_like(map_);
    gains_ = at::ones_like(map_);
  }

  void Step(double exaggeration, double momentum) {
    const Forces forces = FindForces(joint_, map_);
    const at::Tensor gradient =
        4 * (exaggeration * forces.attraction - forces.repulsion / forces.total.to(at::kFloat));
    const at::Tensor turned = update_ * gradient < 0;
    gains_ = at::where(turned, gains_ + 0.2, gains_ * 0.8).clamp_min_(kLeastGain);
    update_ = momentum * update_ - rate_ * gains_ * gradient;
    map_ = map_ + update_;
  }

  const at::Tensor& map() const { return map_; }

 private:
  const at::Tensor& joint_;  // [n, n]
  at::Tensor map_;           // [n, 2]
  at::Tensor update_;        // [n, 2]
  at::Tensor gains_;         // [n, 2]
  double rate_;
};

absl::StatusOr<at::Tensor> Descend(const at::Tensor& joint, const at::Tensor& start,
                                   int64_t iterations, const std::stop_token& stop) {
  Descent descent(joint, start);
  for (int64_t i = 0; i < iterations; ++i) {
    Beat();
    if (stop.stop_requested()) return Cancelled("the analysis was cancelled");
    if (i == kExaggerated) descent.Rest();
    if (i < kExaggerated) {
      descent.Step(kExaggeration, 0.5);
    } else {
      descent.Step(1, 0.8);
    }
  }
  return descent.map();
}

absl::Status CheckParameters(int64_t rows, const TsneParameters& parameters) {
  SINKD_RETURN_IF_ERROR(CheckParameter(rows <= kTsneRows, "rows", rows, "at most 5000"));
  SINKD_RETURN_IF_ERROR(CheckParameter(
      parameters.perplexity >= 1 && parameters.perplexity < static_cast<double>(rows), "perplexity",
      parameters.perplexity, "at least 1, and under the number of rows"));
  return CheckParameter(parameters.iterations >= 1, "iterations", parameters.iterations,
                        "at least 1");
}

}  // namespace

absl::StatusOr<TsneResult> RunTsne(const Matrix& rows, const TsneParameters& parameters,
                                   const std::string& device, std::stop_token stop) {
  SINKD_RETURN_IF_ERROR(CheckParameters(rows.rows, parameters));
  TsneResult result;
  SINKD_RETURN_IF_ERROR(WithRows(rows, device, [&](const at::Tensor& values) -> absl::Status {
    const int64_t n = values.size(0);
    const at::Tensor centred = values - values.mean(0, /*keepdim=*/true);
    const at::Tensor joint = JointProbabilities(centred, parameters.perplexity, stop);
    SeededDraws draws(parameters.seed);
    const at::Tensor principal = PrincipalMap(centred, draws);
    result.divergence = std::numeric_limits<double>::infinity();
    for (int64_t start = 0; start < std::clamp<int64_t>(kPairs / (n * n), 1, kStarts); ++start) {
      at::Tensor map = principal;
      if (start > 0) map = map + kJitter * DrawNormal(n, 2, draws).to(map.device());
      SINKD_ASSIGN_OR_RETURN(
          map, Descend(joint, (kStartDeviation * map).to(at::kFloat), parameters.iterations, stop));
      const double divergence = Divergence(joint, map);
      if (divergence >= result.divergence) continue;
      result = {.coordinates = ToMatrix(map), .divergence = divergence};
    }
    return absl::OkStatus();
  }));
  return result;
}

}  // namespace sinkd
