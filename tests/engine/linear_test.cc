#include "server/engine/forward/linear.h"

#include <functional>

#include <ATen/ATen.h>
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

TEST(Linear, AgreesWithFloat64HoweverWeightsAreCut) {
  const c10::InferenceMode inference;
  at::manual_seed(1);
  for (const auto& [rows, in, out] : kShapes) {
    const at::Tensor x = at::randn({rows, in});
    const at::Tensor w = at::randn({out, in});
    const at::Tensor bias = at::randn({out});
    const at::Tensor product = at::linear(x.to(at::kDouble), w.to(at::kDouble));
    const double torch = RelativeError(at::linear(x, w), product);
    for (const at::Tensor& weights : {w, SplitInputs(w)}) {
      SCOPED_TRACE(::testing::Message()
                   << rows << " x " << in << " x " << out << ", " << weights.dim() << " axes");
      EXPECT_LT(RelativeError(Linear(x, weights), product), 1e-6);
      EXPECT_LT(RelativeError(Linear(x, weights, bias), product + bias.to(at::kDouble)), 1e-6);
    }
    // As exact as torch's own product, with room for luck.
    EXPECT_LT(RelativeError(Linear(x, SplitInputs(w)), product), 2 * torch + 1e-7);
  }
}

TEST(Linear, TakesWeightsWhoseColumnsAreContiguous) {
  const c10::InferenceMode inference;
  const at::Tensor x = at::randn({300, 512});
  const at::Tensor w = at::randn({512, 64}).t();
  const at::Tensor want = at::linear(x.to(at::kDouble), w.to(at::kDouble));
  EXPECT_LT(RelativeError(Linear(x, w), want), 1e-6);
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
