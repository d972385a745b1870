#include "server/engine/forward/linear.h"

#include <cmath>
#include <functional>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

namespace sinkd::testing {
namespace {

double RelativeError(const at::Tensor& got, const at::Tensor& want) {
  return ((got.to(at::kDouble) - want).norm() / want.norm()).item<double>();
}

struct Shape {
  int64_t rows, in, out;
};

// Inputs that divide into parts and inputs that do not, one row and many.
constexpr Shape kShapes[] = {{1, 576, 960},   {7, 64, 64},   {130, 576, 96}, {64, 1536, 57},
                             {300, 512, 128}, {33, 257, 40}, {5, 263, 11},   {64, 4864, 96}};

// What is to be expected of `summed` random products added up one after the other in float32, times
// two: each addition rounds the sum so far by a third of 2^-48 of its square on average. Libraries
// add in several runs at once, each its own way, and only lose less.
double Expected(int64_t summed) {
  return 2 * std::ldexp(std::sqrt(static_cast<double>(summed) / 6), -24);
}

// At most so many are added up in one run of cut weights, where the inputs divide into such runs.
constexpr int64_t kRun = 256;

TEST(Linear, AgreesWithFloat64HoweverWeightsAreCut) {
  const c10::InferenceMode inference;
  at::manual_seed(1);
  for (const auto& [rows, in, out] : kShapes) {
    const at::Tensor x = at::randn({rows, in});
    const at::Tensor w = at::randn({out, in});
    const at::Tensor bias = at::randn({out});
    const at::Tensor product = at::linear(x.to(at::kDouble), w.to(at::kDouble));
    for (const at::Tensor& weights : {w, SplitInputs(w)}) {
      SCOPED_TRACE(::testing::Message()
                   << rows << " x " << in << " x " << out << ", " << weights.dim() << " axes");
      const double expected = Expected(weights.dim() == 3 ? kRun : in);
      EXPECT_LT(RelativeError(Linear(x, weights), product), expected);
      EXPECT_LT(RelativeError(Linear(x, weights, bias), product + bias.to(at::kDouble)), expected);
    }
  }
}

TEST(Linear, CutsWeightsForOneDnnAlone) {
  const at::Tensor w = at::ones({4, 1024});
  const at::Tensor cut = SplitInputs(w);
  EXPECT_EQ(cut.dim(), UsesOneDnn() ? 3 : 2);
  if (UsesOneDnn()) {
    EXPECT_LE(cut.size(2), kRun);
  }
}

// Products whose rows are known not to hang on their number: MKL's only in the mode that it has on
// Intel's processors.
bool RowsAreAlone() {
  return UsesOneDnn() || IgnoresThreads();
}

TEST(Linear, GivesARowTheSameDigitsWhateverRowsAreBesideIt) {
  const c10::InferenceMode inference;
  if (!RowsAreAlone()) GTEST_SKIP() << "MKL on a processor that it does not know";
  at::manual_seed(4);
  for (const auto& [many, in, out] : kShapes) {
    const at::Tensor x = at::randn({300, in});
    const at::Tensor weights = SplitInputs(at::randn({out, in}));
    const at::Tensor all = Linear(x, weights);
    for (const int64_t rows : {1, 2, 3, 7, 15, 16, 17, 64, 129}) {
      EXPECT_TRUE(at::equal(Linear(x.narrow(0, 7, rows), weights), all.narrow(0, 7, rows)))
          << rows << " rows of " << in << " x " << out;
    }
  }
}

TEST(Linear, GivesTheSameDigitsForEveryNumberOfThreads) {
  const c10::InferenceMode inference;
  if (!IgnoresThreads()) GTEST_SKIP() << "MKL has no such mode on this processor";
  at::manual_seed(5);
  const int before = at::get_num_threads();
  for (const auto& [rows, in, out] : kShapes) {
    const at::Tensor x = at::randn({rows, in});
    const at::Tensor weights = SplitInputs(at::randn({out, in}));
    at::set_num_threads(1);
    const at::Tensor want = Linear(x, weights);
    for (const int threads : {2, 3, 4}) {
      at::set_num_threads(threads);
      EXPECT_TRUE(at::equal(Linear(x, weights), want))
          << threads << " threads, " << rows << " x " << in << " x " << out;
    }
  }
  at::set_num_threads(before);
}

TEST(Linear, TakesWeightsWhoseColumnsAreContiguous) {
  const c10::InferenceMode inference;
  const at::Tensor x = at::randn({300, 512});
  const at::Tensor w = at::randn({512, 64}).t();
  const at::Tensor want = at::linear(x.to(at::kDouble), w.to(at::kDouble));
  EXPECT_LT(RelativeError(Linear(x, w), want), Expected(512));
}

TEST(Linear, RoundsBfloat16ProductsAsTorchDoes) {
  const c10::InferenceMode inference;
  const at::Tensor x = at::randn({5, 600}).to(at::kBFloat16);
  const at::Tensor w = at::randn({8, 600}).to(at::kBFloat16);
  const at::Tensor bias = at::randn({8}).to(at::kBFloat16);
  EXPECT_TRUE(SplitInputs(w).is_same(w));
  const at::Tensor want = at::linear(x.to(at::kDouble), w.to(at::kDouble), bias.to(at::kDouble));
  const at::Tensor got = Linear(x, w, bias);
  EXPECT_EQ(got.scalar_type(), at::kBFloat16);
  EXPECT_LT(RelativeError(got, want), 4e-3);
}

// One rounding to bfloat16, of 2^-9 at most, and what the sum in float32 leaves.
constexpr double kOneRounding = 2.5e-3;

TEST(FusedLinear, RoundsOnceAfterTheActivationOrTheFactor) {
  if (!FusesActivations()) GTEST_SKIP() << "no instructions for bfloat16";
  const c10::InferenceMode inference;
  at::manual_seed(3);
  const struct {
    Activation activation;
    std::function<at::Tensor(const at::Tensor&)> exact;
  } cases[] = {
      {Activation::kSilu, [](const at::Tensor& x) { return at::silu(x); }},
      {Activation::kGelu, [](const at::Tensor& x) { return at::gelu(x); }},
      {Activation::kGeluTanh, [](const at::Tensor& x) { return at::gelu(x, "tanh"); }},
      {Activation::kRelu, [](const at::Tensor& x) { return at::relu(x); }},
  };
  for (const auto& [rows, in, out] : kShapes) {
    SCOPED_TRACE(::testing::Message() << rows << " x " << in << " x " << out);
    const at::Tensor x = at::randn({rows, in}).to(at::kBFloat16);
    const at::Tensor w = (at::randn({out, in}) / 16).to(at::kBFloat16);
    const at::Tensor bias = at::randn({out}).to(at::kBFloat16);
    const at::Tensor factor = at::randn({rows, out}).to(at::kBFloat16);
    for (const at::Tensor& added : {at::Tensor(), bias}) {
      at::Tensor product = at::linear(x.to(at::kDouble), w.to(at::kDouble));
      if (added.defined()) product = product + added.to(at::kDouble);
      for (const auto& [activation, exact] : cases) {
        const at::Tensor got = ActivatedLinear(x, w, added, activation);
        EXPECT_EQ(got.scalar_type(), at::kBFloat16);
        EXPECT_LT(RelativeError(got, exact(product)), kOneRounding);
      }
      EXPECT_LT(
          RelativeError(MultipliedLinear(x, w, added, factor), product * factor.to(at::kDouble)),
          kOneRounding);
    }
  }
}

}  // namespace
}  // namespace sinkd::testing
