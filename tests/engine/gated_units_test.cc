// Activations against float64, and that they hang neither on rows beside them nor on threads.
#include "server/engine/forward/gated_units.h"

#include <functional>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

namespace sinkd::testing {
namespace {

struct Case {
  const char* name;
  Gating gating;
  Activation activation;
  std::function<at::Tensor(const at::Tensor&)> exact;
};

const Case kCases[] = {
    {"Silu", Gating::kGated, Activation::kSilu, [](const at::Tensor& x) { return at::silu(x); }},
    {"Gelu", Gating::kGated, Activation::kGelu, [](const at::Tensor& x) { return at::gelu(x); }},
    {"GeluTanh", Gating::kGated, Activation::kGeluTanh,
     [](const at::Tensor& x) { return at::gelu(x, "tanh"); }},
    {"Relu", Gating::kGated, Activation::kRelu, [](const at::Tensor& x) { return at::relu(x); }},
    {"ClampedSwish", Gating::kClampedSwish, Activation::kSilu,
     [](const at::Tensor& x) {
       const at::Tensor gate = x.clamp_max(7);
       return gate * at::sigmoid(gate * 1.702);
     }},
};

class Activations : public ::testing::TestWithParam<Case> {
 protected:
  static at::Tensor Act(const at::Tensor& gate) {
    DecoderSpec spec;
    spec.gating = GetParam().gating;
    spec.activation = GetParam().activation;
    return ActOf(spec, {.gate = gate, .up = gate});
  }
};

TEST_P(Activations, AgreeWithFloat64) {
  const c10::InferenceMode inference;
  const at::Tensor x = at::linspace(-120, 120, 100'001);
  const at::Tensor want = GetParam().exact(x.to(at::kDouble));
  // Of some roundings of numbers as large as x.
  const at::Tensor error = (Act(x).to(at::kDouble) - want).abs() / (x.abs() + 1e-3);
  EXPECT_LT(error.max().item<double>(), 4e-7);
}

// 57 units: no whole number of vector registers.
TEST_P(Activations, OfARowHangNeitherOnOtherRowsNorOnThreads) {
  const c10::InferenceMode inference;
  at::manual_seed(1);
  const at::Tensor both = at::randn({2000, 2 * 57});
  const at::Tensor x = both.narrow(1, 0, 57) * 3;
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const at::Tensor all = Act(x);
  for (const int threads : {1, 2, 3}) {
    at::set_num_threads(threads);
    EXPECT_TRUE(at::equal(Act(x), all)) << threads;
    for (const int64_t rows : {1, 2, 3, 7, 100}) {
      EXPECT_TRUE(at::equal(Act(x.narrow(0, 5, rows)), all.narrow(0, 5, rows))) << rows;
    }
  }
  at::set_num_threads(before);
}

INSTANTIATE_TEST_SUITE_P(All, Activations, ::testing::ValuesIn(kCases),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace sinkd::testing
