#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>

#include <ATen/ATen.h>

#include "server/base/parameter_check.h"
#include "server/base/seeded_draws.h"
#include "server/base/status.h"
#include "server/engine/decomposition.h"
#include "server/engine/numerics/host_values.h"
#include "server/engine/numerics/matrix_input.h"

namespace sinkd {
namespace {

constexpr int64_t kIterations = 300;

struct Clustering {
  at::Tensor labels;   // [rows] int64
  at::Tensor centres;  // [clusters, C]
  double inertia = std::numeric_limits<double>::infinity();
};

// Squared distances of `rows` [n, C] to `centres` [k, C]: [n, k]. `squares` [n, 1] of the rows.
at::Tensor Distances(const at::Tensor& rows, const at::Tensor& squares, const at::Tensor& centres) {
  const at::Tensor products = at::matmul(rows, centres.t());
  return (squares - 2 * products + centres.square().sum(1)).clamp_min(0);
}

// The first row at which the running sum of `weights` passes a drawn share of it.
int64_t DrawRow(const at::Tensor& running, SeededDraws& draws) {
  const double total = running[-1].item<double>();
  const at::Tensor place = at::full({1}, draws.Uniform() * total, running.options());
  const int64_t row =
      at::searchsorted(running, place, /*out_int32=*/false, /*right=*/true).item<int64_t>();
  return std::min(row, running.size(0) - 1);
}

// k-means++ (Arthur and Vassilvitskii 2007), greedy: of a few rows drawn by squared distance, the
// one that leaves the least.
at::Tensor DrawCentres(const at::Tensor& rows, const at::Tensor& squares, int64_t clusters,
                       SeededDraws& draws) {
  const auto tries = 2 + static_cast<int64_t>(std::log(static_cast<double>(clusters)));
  std::vector<at::Tensor> centres = {
      rows[DrawRow(at::ones_like(squares).flatten().cumsum(0), draws)]};
  at::Tensor nearest = Distances(rows, squares, centres[0].unsqueeze(0)).flatten();
  while (static_cast<int64_t>(centres.size()) < clusters) {
    const at::Tensor running = nearest.cumsum(0);
    at::Tensor best_centre, best;
    for (int64_t t = 0; t < tries; ++t) {
      const at::Tensor centre = rows[DrawRow(running, draws)];
      const at::Tensor left =
          at::minimum(nearest, Distances(rows, squares, centre.unsqueeze(0)).flatten());
      if (best.defined() && left.sum().item<double>() >= best.sum().item<double>()) continue;
      best_centre = centre;
      best = left;
    }
    centres.push_back(best_centre);
    nearest = best;
  }
  return at::stack(centres);
}

// Means of the rows of each label. A cluster that lost all its rows takes the row farthest from its
// centre, as scikit-learn does.
at::Tensor Centres(const at::Tensor& rows, at::Tensor labels, at::Tensor distances,
                   int64_t clusters) {
  at::Tensor members = at::one_hot(labels, clusters).to(rows.scalar_type());
  at::Tensor counts = members.sum(0);
  const at::Tensor empty = at::nonzero(counts == 0).flatten();
  if (empty.size(0) > 0) {
    const at::Tensor farthest = std::get<1>(distances.topk(empty.size(0)));
    labels = labels.index_copy(0, farthest, empty);
    members = at::one_hot(labels, clusters).to(rows.scalar_type());
    counts = members.sum(0).clamp_min(1);
  }
  return at::matmul(members.t(), rows) / counts.unsqueeze(1);
}

// The starts one after the other, an iteration of Lloyd's at a time.
class KMeans final : public InTurns<KMeansResult> {
 public:
  KMeans(const at::Tensor& rows, int64_t clusters, int64_t starts, uint64_t seed)
      : clusters_(clusters),
        starts_(starts),
        // Around zero, where distances by way of squares lose the least.
        centred_(rows - rows.mean(0, /*keepdim=*/true)),
        squares_(centred_.square().sum(1, /*keepdim=*/true)),
        draws_(seed) {}

  absl::Status Step(const std::stop_token& stop) override {
    return DoTurn(
        stop, [this] { return done(); }, [this] { return Advance(); });
  }
  bool done() const override { return start_ == starts_; }
  KMeansResult Take() override { return std::move(result_); }

 private:
  int64_t Advance() {
    if (!centres_.defined()) {
      centres_ = DrawCentres(centred_, squares_, clusters_, draws_);
      found_ = {};
      iteration_ = 0;
    } else if (Iterate() || ++iteration_ == kIterations) {
      EndStart();
    }
    return centred_.numel() * clusters_;
  }

  // True once the labels are settled.
  bool Iterate() {
    const auto [distances, labels] = Distances(centred_, squares_, centres_).min(1);
    const bool settled = found_.labels.defined() && at::equal(labels, found_.labels);
    found_ = {.labels = labels, .centres = centres_, .inertia = distances.sum().item<double>()};
    if (!settled) centres_ = Centres(centred_, labels, distances, clusters_);
    return settled;
  }

  void EndStart() {
    if (found_.inertia < best_.inertia) best_ = found_;
    centres_.reset();
    if (++start_ < starts_) return;
    result_.labels = HostValues<int32_t>(best_.labels.to(at::kInt));
    // Exactly: by way of squares a tight cluster far out keeps few digits.
    result_.inertia =
        (centred_ - best_.centres.index_select(0, best_.labels)).square().sum().item<double>();
  }

  const int64_t clusters_;
  const int64_t starts_;
  const at::Tensor centred_;  // [n, C] float64
  const at::Tensor squares_;  // [n, 1] of its rows
  SeededDraws draws_;
  int64_t start_ = 0;
  int64_t iteration_ = 0;
  at::Tensor centres_;  // of the start under way; undefined before it
  Clustering found_, best_;
  KMeansResult result_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<InTurns<KMeansResult>>> StartKMeans(const Matrix& rows,
                                                                   int64_t clusters, int64_t starts,
                                                                   uint64_t seed,
                                                                   const std::string& device) {
  SINKD_RETURN_IF_ERROR(CheckParameter(clusters >= 1 && clusters <= rows.rows, "clusters", clusters,
                                       "at least 1, and at most the number of rows"));
  SINKD_RETURN_IF_ERROR(CheckParameter(starts >= 1, "starts", starts, "at least 1"));
  std::unique_ptr<InTurns<KMeansResult>> clustering;
  SINKD_RETURN_IF_ERROR(WithRows(rows, device, [&](const at::Tensor& values) {
    clustering = std::make_unique<KMeans>(values, clusters, starts, seed);
    return absl::OkStatus();
  }));
  return clustering;
}

}  // namespace sinkd
