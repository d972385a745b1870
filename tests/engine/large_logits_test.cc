// Attention where scores reach hundreds, as biases make them in real models, against float64.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "tests/engine/oracle_files.h"

namespace sinkd::testing {
namespace {

constexpr double kTolerance = 2e-5;

class LargeLogits : public ::testing::TestWithParam<int64_t> {};

TEST_P(LargeLogits, LeaveAlphaAsItIsInFloat64) {
  const int64_t length = GetParam();
  const std::string checkpoint = "large_logits/checkpoint";
  const auto [ids, alpha] = ReadExpectedAlpha(checkpoint, length);
  const auto model =
      Model::Load(OracleFolder() / checkpoint, {.compute_type = ComputeType::kFloat32});
  ASSERT_TRUE(model.ok()) << model.status();
  const auto traces = (*model)->Run({&ids, 1}, {});
  ASSERT_TRUE(traces.ok()) << traces.status();
  const std::vector<float>& sums = traces->front().attention_sum;
  ASSERT_EQ(sums.size(), alpha.size());
  double largest = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    const auto seen = static_cast<double>(length - static_cast<int64_t>(i) % length);
    largest = std::max(largest, std::abs(sums[i] / seen - static_cast<double>(alpha[i])));
  }
  printf("T %ld: largest difference of alpha %.2e\n", length, largest);
  EXPECT_LE(largest, kTolerance);
}

INSTANTIATE_TEST_SUITE_P(Lengths, LargeLogits, ::testing::Values(64, 700));

}  // namespace
}  // namespace sinkd::testing
