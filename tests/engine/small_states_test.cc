// States whose squares float32 cannot hold against transformers in float64:
// tests/oracle/small_states.py.
#include <algorithm>
#include <cmath>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/engine/oracle_files.h"

namespace sinkd::testing {
namespace {

constexpr int64_t kLength = 64;
constexpr double kRoundings = 2e-5;  // of a whole forward pass in float32

class SmallStates : public ::testing::TestWithParam<const char*> {};

TEST_P(SmallStates, HaveTheNormsCosinesAndAlphaOfFloat64) {
  const ExpectedSample exact = ReadExpected(GetParam(), "f64", kLength);
  const auto model =
      Model::Load(OracleFolder() / GetParam(), {.compute_type = ComputeType::kFloat32});
  ASSERT_TRUE(model.ok()) << model.status();
  const DecoderSpec& spec = (*model)->info().spec;
  const auto traces = (*model)->Run({&exact.ids, 1}, {});
  ASSERT_TRUE(traces.ok()) << traces.status();
  const Trace& trace = traces->front();
  const at::Tensor states = at::from_blob(const_cast<float*>(exact.hidden.data()),
                                          {spec.blocks, kLength, spec.hidden}, at::kFloat)
                                .to(at::kDouble);
  const at::Tensor norms = states.norm(2, at::IntArrayRef{-1});
  const at::Tensor directions = states / norms.unsqueeze(-1);
  EXPECT_LT(norms[0].max().item<double>(), 1e-18) << "not small";
  double norm = 0, cosine = 0, mlp = 0, alpha = 0;
  for (int64_t l = 0; l < spec.blocks; ++l) {
    for (int64_t t = 0; t < kLength; ++t) {
      const double want = norms[l][t].item<double>();
      norm = std::max(norm, std::abs(trace.StateNorm(l, t) - want) / want);
      const double wrote = exact.mlp_norm[Trace::At(l * kLength + t)];
      mlp = std::max(mlp, std::abs(trace.MlpNorm(l, t) - wrote) / wrote);
      for (int64_t c = 0; c < trace.candidates; ++c) {
        const double along = directions[l][t].dot(directions[l][c]).item<double>();
        cosine = std::max(cosine, std::abs(trace.Cosine(l, c, t) - along));
      }
    }
  }
  for (size_t i = 0; i < trace.attention_sum.size(); ++i) {
    const auto seen = static_cast<double>(kLength - static_cast<int64_t>(i) % kLength);
    alpha = std::max(alpha, std::abs(double{trace.attention_sum[i]} - exact.column_sum[i]) / seen);
  }
  printf("state norm %.1e, mlp norm %.1e, cosine %.1e, alpha %.1e\n", norm, mlp, cosine, alpha);
  EXPECT_LT(norm, kRoundings);
  EXPECT_LT(mlp, kRoundings);
  EXPECT_LT(cosine, kRoundings);
  EXPECT_LT(alpha, kRoundings);
}

INSTANTIATE_TEST_SUITE_P(EveryCase, SmallStates,
                         ::testing::Values("small_states/small_no_epsilon",
                                           "small_states/small_like_epsilon",
                                           "small_states/small_usual_epsilon",
                                           "small_states/small_layer_norm"),
                         CheckpointName);

}  // namespace
}  // namespace sinkd::testing
