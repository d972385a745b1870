// Attention where scores reach hundreds, as biases make them in real models, against float64.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "tests/engine/oracle_files.h"

namespace sinkd::testing {
namespace {

// A score of 300, as the oracle sees to, is rounded by so much, and the weight of its key with it;
// transformers' own rounding may happen to be far less.
constexpr double kRoundedScore = 300.0 / (1 << 24);

class LargeLogits : public ::testing::TestWithParam<int64_t> {};

TEST_P(LargeLogits, LeaveAlphaAsExactAsTransformersDoes) {
  const int64_t length = GetParam();
  const std::string checkpoint = "large_logits/checkpoint";
  const auto [ids, alpha, theirs] = ReadExpectedAlpha(checkpoint, length);
  const auto model =
      Model::Load(OracleFolder() / checkpoint, {.compute_type = ComputeType::kFloat32});
  ASSERT_TRUE(model.ok()) << model.status();
  const auto traces = (*model)->Run({&ids, 1}, {});
  ASSERT_TRUE(traces.ok()) << traces.status();
  const std::vector<float>& sums = traces->front().attention_sum;
  ASSERT_EQ(sums.size(), alpha.size());
  double largest = 0, largest_of_theirs = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    const auto seen = static_cast<double>(length - static_cast<int64_t>(i) % length);
    largest = std::max(largest, std::abs(sums[i] / seen - double{alpha[i]}));
    largest_of_theirs = std::max(largest_of_theirs, std::abs(double{theirs[i]} - double{alpha[i]}));
  }
  printf("T %ld: largest error of alpha %.2e, of transformers %.2e\n", length, largest,
         largest_of_theirs);
  EXPECT_LE(largest, Allowed(largest_of_theirs, kRoundedScore));
}

INSTANTIATE_TEST_SUITE_P(Lengths, LargeLogits, ::testing::Values(64, 700));

}  // namespace
}  // namespace sinkd::testing
