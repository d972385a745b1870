// Exact t-SNE with the schedule of scikit-learn's TSNE(method="exact"); forces are summed over
// strips of rows, so that the only [n, n] matrix kept is P.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include "server/base/parameter_check.h"
#include "server/base/seeded_draws.h"
#include "server/base/status.h"
#include "server/engine/decomposition.h"
#include "server/engine/forward/torch_boundary.h"
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

// Rows [first, first + height) of n, one strip after the other.
struct Strip {
  explicit Strip(int64_t rows) : n(rows) { Cut(0); }

  bool last() const { return first + height == n; }
  void Next() { Cut(last() ? 0 : first + height); }
  int64_t values() const { return height * n; }
  at::Tensor Of(const at::Tensor& tensor) const { return tensor.narrow(0, first, height); }

  int64_t n = 0, first = 0, height = 0;

 private:
  void Cut(int64_t begin) {
    first = begin;
    height = std::min(std::max<int64_t>(1, kStripElements / n), n - begin);
  }
};

// The diagonal of rows `first` and on of an [n, n] matrix.
at::Tensor OwnEntries(const at::Tensor& strip, int64_t first) {
  return strip.narrow(1, first, strip.size(0)).diagonal();
}

// Conditional probabilities of one strip from squared distances [rows, n] float64, by bisection of
// each row's precision until its entropy is that of the perplexity. Row i is row first + i of all.
class Bisection {
 public:
  Bisection(at::Tensor distances, int64_t first, double perplexity)
      : first_(first), target_(std::log(perplexity)) {
    const int64_t n = distances.size(1);
    // Probabilities do not change when a row's distances do by a constant; the nearest has e^0
    // then.
    OwnEntries(distances, first).fill_(std::numeric_limits<double>::infinity());
    distances_ = distances - std::get<0>(distances.min(1, /*keepdim=*/true));
    OwnEntries(distances_, first).zero_();
    const at::Tensor mean = distances_.sum(1, /*keepdim=*/true) / static_cast<double>(n - 1);
    precision_ = at::where(mean > 0, mean.reciprocal(), at::ones_like(mean));
    low_ = at::zeros_like(mean);
    high_ = at::full_like(mean, std::numeric_limits<double>::infinity());
  }

  bool done() const { return done_; }

  void Halve() {
    weights_ = (distances_ * precision_).neg_().exp_();
    OwnEntries(weights_, first_).zero_();
    sum_ = weights_.sum(1, /*keepdim=*/true);
    const at::Tensor entropy =
        sum_.log() + precision_ * (weights_ * distances_).sum(1, /*keepdim=*/true) / sum_;
    const at::Tensor excess = entropy - target_;
    done_ = excess.abs().max().item<double>() <= kEntropyTolerance || ++halved_ == kBisections;
    if (done_) return;
    const at::Tensor flat = excess > 0;  // the precision must grow
    low_ = at::where(flat, precision_, low_);
    high_ = at::where(flat, high_, precision_);
    precision_ = at::where(high_.isinf(), precision_ * 2, (low_ + high_) / 2);
  }

  at::Tensor probabilities() const { return weights_ / sum_; }

 private:
  const int64_t first_;
  const double target_;  // nats
  at::Tensor distances_, precision_, low_, high_, weights_, sum_;
  int halved_ = 0;
  bool done_ = false;
};

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

// Gradient descent with momentum and a gain per coordinate, its forces summed strip by strip.
class Descent {
 public:
  Descent(at::Tensor joint, at::Tensor map, int64_t iterations)
      : joint_(std::move(joint)),
        map_(std::move(map)),
        iterations_(iterations),
        rate_(std::max(static_cast<double>(map_.size(0)) / kExaggeration / 4, kLeastLearningRate)),
        strip_(map_.size(0)) {
    Rest();
  }

  bool done() const { return iteration_ == iterations_; }
  const at::Tensor& map() const { return map_; }

  // The next strip, and behind the last one a step; how many values that took.
  int64_t Advance() {
    if (strip_.first == 0) BeginIteration();
    SumForces();
    if (strip_.last()) {
      const bool exaggerated = iteration_ < kExaggerated;
      Move(exaggerated ? kExaggeration : 1, exaggerated ? 0.5 : 0.8);
      ++iteration_;
    }
    const int64_t values = strip_.values();
    strip_.Next();
    return values;
  }

 private:
  // Forgets how it moved.
  void Rest() {
    update_ = at::zeros_like(map_);
    gains_ = at::ones_like(map_);
  }

  void BeginIteration() {
    if (iteration_ == kExaggerated) Rest();
    // A column of ones sums the weights in the same product that sums weighted positions.
    extended_ = at::cat({map_, at::ones({map_.size(0), 1}, map_.options())}, 1);
    attraction_ = at::empty_like(map_);
    repulsion_ = at::empty_like(map_);
    total_ = at::zeros({}, map_.options().dtype(at::kDouble));
  }

  void SumForces() {
    const at::Tensor here = strip_.Of(map_);
    const auto pull = [&](const at::Tensor& weights) {
      const at::Tensor sums = at::matmul(weights, extended_);
      return sums.narrow(1, 2, 1) * here - sums.narrow(1, 0, 2);
    };
    at::Tensor closeness = Closeness(map_, strip_.first, strip_.height);
    total_.add_(closeness.sum());
    strip_.Of(attraction_).copy_(pull(strip_.Of(joint_) * closeness));
    strip_.Of(repulsion_).copy_(pull(closeness.square_()));
  }

  void Move(double exaggeration, double momentum) {
    const at::Tensor gradient =
        4 * (exaggeration * attraction_ - repulsion_ / total_.to(at::kFloat));
    const at::Tensor turned = update_ * gradient < 0;
    gains_ = at::where(turned, gains_ + 0.2, gains_ * 0.8).clamp_min_(kLeastGain);
    update_ = momentum * update_ - rate_ * gains_ * gradient;
    map_ = map_ + update_;
  }

  const at::Tensor joint_;  // [n, n]
  at::Tensor map_;          // [n, 2]
  const int64_t iterations_;
  const double rate_;
  int64_t iteration_ = 0;
  Strip strip_;
  at::Tensor update_, gains_;  // [n, 2]
  at::Tensor extended_;        // [n, 3]
  at::Tensor attraction_;      // [n, 2] sum over j of P_ij c_ij (y_i - y_j), c the closeness
  at::Tensor repulsion_;       // [n, 2] sum over j of c_ij^2 (y_i - y_j)
  at::Tensor total_;           // [] float64, sum of c_ij
};

// KL(P || Q), in nats: the sum of closeness first, then the divergence, strip by strip.
class Divergence {
 public:
  Divergence(at::Tensor joint, const at::Tensor& map)
      : joint_(std::move(joint)), map_(map.to(at::kDouble)), strip_(map.size(0)) {}

  bool done() const { return done_; }
  double value() const { return divergence_; }

  int64_t Advance() {
    const at::Tensor closeness = Closeness(map_, strip_.first, strip_.height);
    if (summing_) {
      total_ += closeness.sum().item<double>();
    } else {
      const at::Tensor p = strip_.Of(joint_).to(at::kDouble);
      const at::Tensor q = (closeness / total_).clamp_min_(kLeastProbability);
      divergence_ += (at::xlogy(p, p) - at::xlogy(p, q)).sum().item<double>();
    }
    const int64_t values = strip_.values();
    if (strip_.last()) {
      done_ = !summing_;
      summing_ = false;
    }
    strip_.Next();
    return values;
  }

 private:
  const at::Tensor joint_, map_;
  Strip strip_;
  bool summing_ = true;
  bool done_ = false;
  double total_ = 0;
  double divergence_ = 0;
};

// Its parts in order: P strip by strip, the principal axes, then of each start a descent and the
// divergence it ends at.
class Tsne final : public InTurns<TsneResult> {
 public:
  Tsne(const at::Tensor& rows, const TsneParameters& parameters)
      : parameters_(parameters),
        n_(rows.size(0)),
        starts_(std::clamp<int64_t>(kPairs / (n_ * n_), 1, kStarts)),
        centred_(rows - rows.mean(0, /*keepdim=*/true)),
        squares_(centred_.square().sum(1)),
        conditional_(at::empty({n_, n_}, rows.options().dtype(at::kFloat))),
        strip_(n_),
        draws_(parameters.seed) {
    result_.divergence = std::numeric_limits<double>::infinity();
  }

  absl::Status Step(const std::stop_token& stop) override {
    if (joint_.defined() && !principal_.defined()) return FindPrincipalMap(stop);
    return DoTurn(
        stop, [this] { return done(); }, [this] { return Advance(); });
  }
  bool done() const override { return start_ == starts_; }
  TsneResult Take() override { return std::move(result_); }

 private:
  int64_t Advance() {
    if (!joint_.defined()) return FindProbabilities();
    if (!principal_.defined()) return kValuesOfATurn;  // the next turn's
    if (!descent_) {
      at::Tensor map = principal_;
      if (start_ > 0) map = map + kJitter * DrawNormal(n_, 2, draws_).to(map.device());
      descent_.emplace(joint_, (kStartDeviation * map).to(at::kFloat), parameters_.iterations);
    }
    if (!descent_->done()) return descent_->Advance();
    if (!divergence_) divergence_.emplace(joint_, descent_->map());
    const int64_t values = divergence_->Advance();
    if (divergence_->done()) TakeMap();
    return values;
  }

  absl::Status FindPrincipalMap(const std::stop_token& stop) {
    if (!finding_) {
      finding_ = std::make_unique<OnTheSide<at::Tensor>>([this] {
        at::Tensor map;
        const absl::Status found = AtTorchBoundary([&]() -> absl::Status {
          const c10::InferenceMode inference;
          map = PrincipalMap(centred_, draws_);
          return absl::OkStatus();
        });
        return found.ok() ? absl::StatusOr<at::Tensor>(map) : absl::StatusOr<at::Tensor>(found);
      });
    }
    SINKD_RETURN_IF_ERROR(finding_->Step(stop));
    if (finding_->done()) principal_ = finding_->Take();
    return absl::OkStatus();
  }

  // P [n, n] float32: symmetric, its sum one, its diagonal zero.
  int64_t FindProbabilities() {
    if (!bisection_) {
      const at::Tensor products = at::matmul(strip_.Of(centred_), centred_.t());
      bisection_.emplace((strip_.Of(squares_).unsqueeze(1) - 2 * products + squares_).clamp_min_(0),
                         strip_.first, parameters_.perplexity);
      return strip_.height * centred_.size(1);
    }
    bisection_->Halve();
    if (!bisection_->done()) return strip_.values();
    strip_.Of(conditional_).copy_(bisection_->probabilities());
    bisection_.reset();
    if (strip_.last()) {
      joint_ = (conditional_ + conditional_.t()).div_(2 * static_cast<double>(n_));
      conditional_.reset();
    }
    const int64_t values = strip_.values();
    strip_.Next();
    return values;
  }

  void TakeMap() {
    if (divergence_->value() < result_.divergence) {
      result_ = {.coordinates = ToMatrix(descent_->map()), .divergence = divergence_->value()};
    }
    descent_.reset();
    divergence_.reset();
    ++start_;
  }

  const TsneParameters parameters_;
  const int64_t n_;
  const int64_t starts_;
  const at::Tensor centred_;  // [n, C] float64
  const at::Tensor squares_;  // [n] of its rows
  at::Tensor conditional_;    // [n, n], until joint_ is made of it
  at::Tensor joint_;          // [n, n]
  at::Tensor principal_;      // [n, 2]
  Strip strip_;
  SeededDraws draws_;
  int64_t start_ = 0;
  std::optional<Bisection> bisection_;
  std::optional<Descent> descent_;
  std::optional<Divergence> divergence_;
  TsneResult result_;
  std::unique_ptr<OnTheSide<at::Tensor>> finding_;  // last: it uses the rest
};

absl::Status CheckParameters(int64_t rows, const TsneParameters& parameters) {
  SINKD_RETURN_IF_ERROR(CheckParameter(rows <= kTsneRows, "rows", rows, "at most 5000"));
  SINKD_RETURN_IF_ERROR(CheckParameter(
      parameters.perplexity >= 1 && parameters.perplexity < static_cast<double>(rows), "perplexity",
      parameters.perplexity, "at least 1, and under the number of rows"));
  return CheckParameter(parameters.iterations >= 1, "iterations", parameters.iterations,
                        "at least 1");
}

}  // namespace

absl::StatusOr<std::unique_ptr<InTurns<TsneResult>>> StartTsne(const Matrix& rows,
                                                               const TsneParameters& parameters,
                                                               const std::string& device) {
  SINKD_RETURN_IF_ERROR(CheckParameters(rows.rows, parameters));
  std::unique_ptr<InTurns<TsneResult>> map;
  SINKD_RETURN_IF_ERROR(WithRows(rows, device, [&](const at::Tensor& values) {
    map = std::make_unique<Tsne>(values, parameters);
    return absl::OkStatus();
  }));
  return map;
}

}  // namespace sinkd
