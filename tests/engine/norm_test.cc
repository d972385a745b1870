// Norms of rows from the smallest to the largest that float32 holds, against float64.
#include "server/engine/forward/norm.h"

#include <cmath>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

namespace sinkd::testing {
namespace {

constexpr int64_t kRows = 5;
constexpr int64_t kWidth = 576;
constexpr double kRoundings = 1e-6;  // of float32, some on each other

double LargestError(const at::Tensor& got, const at::Tensor& want) {
  return ((got.to(at::kDouble) - want).abs() / want.abs()).max().item<double>();
}

at::Tensor Rows(double size) {
  at::manual_seed(1);
  return ((at::randn({kRows, kWidth}, at::kDouble) + 0.5) * size).to(at::kFloat);
}

class RowsOfSize : public ::testing::TestWithParam<double> {};

TEST_P(RowsOfSize, HaveTheirNorms) {
  const c10::InferenceMode inference;
  const at::Tensor rows = Rows(GetParam());
  const at::Tensor want = at::linalg_vector_norm(rows.to(at::kDouble), 2, at::IntArrayRef{1});
  EXPECT_LT(LargestError(EuclideanNorms(rows), want), kRoundings);
}

TEST_P(RowsOfSize, AreNormalizedAsInFloat64) {
  const c10::InferenceMode inference;
  const at::Tensor rows = Rows(GetParam());
  const at::Tensor exact = rows.to(at::kDouble);
  const NormWeights weights{.weight = at::rand({kWidth}) + 0.5, .bias = at::rand({kWidth}) + 0.5};
  const at::Tensor weight = weights.weight.to(at::kDouble);
  const at::Tensor mean = exact.mean(1, /*keepdim=*/true);
  const at::Tensor centred = exact - mean;
  for (const double epsilon : {0.0, 1e-6, std::pow(GetParam(), 2)}) {
    SCOPED_TRACE(epsilon);
    const auto scaled = [&](const at::Tensor& x) {
      return x * at::rsqrt(x.square().mean(1, /*keepdim=*/true) + epsilon);
    };
    EXPECT_LT(
        LargestError(Normalize(NormKind::kRms, rows, weights, epsilon), scaled(exact) * weight),
        kRoundings);
    const at::Tensor want = scaled(centred) * weight + weights.bias.to(at::kDouble);
    const at::Tensor got = Normalize(NormKind::kLayer, rows, weights, epsilon);
    EXPECT_LT((got.to(at::kDouble) - want).abs().max().item<double>(), 10 * kRoundings);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, RowsOfSize,
                         ::testing::Values(1e-36, 1e-30, 1e-21, 1e-18, 1e-12, 1, 1e12, 1e18, 1e21,
                                           1e30, 1e35));

TEST(Norms, OfARowAreThoseItHasBesideOneOfAnotherSize) {
  const c10::InferenceMode inference;
  const at::Tensor rows = at::cat({Rows(1e-21), Rows(1), at::zeros({1, kWidth})});
  const at::Tensor want = at::linalg_vector_norm(rows.to(at::kDouble), 2, at::IntArrayRef{1});
  const at::Tensor got = EuclideanNorms(rows);
  EXPECT_LT(LargestError(got.narrow(0, 0, 2 * kRows), want.narrow(0, 0, 2 * kRows)), kRoundings);
  EXPECT_EQ(got[2 * kRows].item<float>(), 0);
}

}  // namespace
}  // namespace sinkd::testing
