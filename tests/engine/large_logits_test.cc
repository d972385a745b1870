// Attention where scores reach hundreds, as biases make them in real models, against float64.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "server/engine/safetensors.h"
#include "tests/engine/oracle_files.h"

namespace sinkd::testing {
namespace {

constexpr double kTolerance = 2e-5;

template <typename T>
std::vector<T> ReadAll(const SafetensorsFile& file, const std::string& name) {
  const TensorEntry& entry = file.tensors().at(name);
  std::vector<T> values(static_cast<size_t>(entry.bytes) / sizeof(T));
  EXPECT_TRUE(file.Read(name, 0, entry.bytes, values.data()).ok());
  return values;
}

class LargeLogits : public ::testing::TestWithParam<int64_t> {};

TEST_P(LargeLogits, LeaveAlphaAsItIsInFloat64) {
  const int64_t length = GetParam();
  const std::filesystem::path folder = OracleFolder() / "large_logits";
  const auto file =
      SafetensorsFile::Open(folder / "checkpoint.expected" /
                            ("expected_f64_T" + std::to_string(length) + ".safetensors"));
  ASSERT_TRUE(file.ok()) << file.status();
  TokenIds ids;
  for (const int64_t id : ReadAll<int64_t>(*file, "ids")) ids.push_back(static_cast<int32_t>(id));
  const std::vector<float> alpha = ReadAll<float>(*file, "alpha");

  const auto model = Model::Load(folder / "checkpoint", {.compute_type = ComputeType::kFloat32});
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
