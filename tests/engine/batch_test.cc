// A batch of many samples gives each what it gets alone, whatever the family.
#include <algorithm>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "server/engine/forward/linear.h"
#include "server/engine/model.h"
#include "tests/engine/oracle_files.h"
#include "tests/engine/parity_cases.h"

namespace sinkd::testing {
namespace {

// Where the libraries' sums hang neither on threads nor on rows, a sample has no digit from its
// batch mates; elsewhere it has some roundings.
double Tolerance() {
  return IgnoresThreads() ? 0 : 1e-5;
}
constexpr int64_t kSamples = 32;
constexpr int64_t kLongest = 200;

// Lengths 1 to 200 in no order, ids in no order.
std::vector<TokenIds> MixedBatch(int64_t vocabulary) {
  std::vector<TokenIds> batch;
  for (int64_t s = 0; s < kSamples; ++s) {
    TokenIds& ids = batch.emplace_back();
    const int64_t length = s * 61 % kLongest + 1;
    for (int64_t t = 0; t < length; ++t) {
      ids.push_back(static_cast<int32_t>((s * 131 + t * t * 17 + t * 5 + 1) % vocabulary));
    }
  }
  return batch;
}

enum class Scale { kRelative, kAbsolute };

// `divisor(i)` is what value i is divided by before comparing.
double LargestDifference(const std::vector<float>& got, const std::vector<float>& want, Scale scale,
                         const std::function<double(size_t)>& divisor) {
  EXPECT_EQ(got.size(), want.size());
  double largest = 0;
  for (size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
    const double size = scale == Scale::kRelative ? std::abs(double{want[i]}) : divisor(i);
    largest = std::max(largest, std::abs(double{got[i]} - want[i]) / size);
  }
  return largest;
}

void ExpectSame(const Trace& got, const Trace& want) {
  const auto one = [](size_t) { return 1.0; };
  // Sums over the queries that see a key; their mean is what is compared.
  const auto queries_of = [](int64_t positions) {
    return [positions](size_t i) { return double(positions - int64_t(i) % positions); };
  };
  EXPECT_EQ(got.positions, want.positions);
  EXPECT_LE(LargestDifference(got.state_norm, want.state_norm, Scale::kRelative, one), Tolerance());
  EXPECT_LE(LargestDifference(got.mlp_norm, want.mlp_norm, Scale::kRelative, one), Tolerance());
  EXPECT_LE(LargestDifference(got.candidate_cosine, want.candidate_cosine, Scale::kAbsolute, one),
            Tolerance());
  EXPECT_LE(LargestDifference(got.attention_sum, want.attention_sum, Scale::kAbsolute,
                              queries_of(want.positions)),
            Tolerance());
  EXPECT_LE(LargestDifference(got.attention_self, want.attention_self, Scale::kAbsolute, one),
            Tolerance());
  EXPECT_LE(LargestDifference(got.prefix_attention_sum, want.prefix_attention_sum, Scale::kAbsolute,
                              queries_of(want.prefix)),
            Tolerance());
  EXPECT_LE(LargestDifference(got.gates, want.gates, Scale::kAbsolute, one), Tolerance());
  EXPECT_EQ(got.attention_blocks, want.attention_blocks);
  EXPECT_LE(LargestDifference(got.learned_sink_mass, want.learned_sink_mass, Scale::kAbsolute, one),
            Tolerance());
}

class Batch : public ::testing::TestWithParam<ParityCase> {};

TEST_P(Batch, OfMixedLengthsGivesEachSampleWhatItGetsAlone) {
  const auto model =
      Model::Load(OracleFolder() / GetParam().checkpoint, {.compute_type = ComputeType::kFloat32});
  ASSERT_TRUE(model.ok()) << model.status();
  const std::vector<TokenIds> batch = MixedBatch((*model)->info().spec.vocabulary);
  const TraceRequest request{.prefix = 64};
  const auto together = (*model)->Run(batch, request);
  ASSERT_TRUE(together.ok()) << together.status();
  ASSERT_EQ(together->size(), batch.size());
  for (size_t s = 0; s < batch.size(); ++s) {
    SCOPED_TRACE(batch[s].size());
    const auto alone = (*model)->Run({&batch[s], 1}, request);
    ASSERT_TRUE(alone.ok()) << alone.status();
    ExpectSame((*together)[s], alone->front());
  }
}

INSTANTIATE_TEST_SUITE_P(EveryCase, Batch, ::testing::ValuesIn(ParityCases()),
                         [](const auto& test) { return NameOf(test.param); });

}  // namespace
}  // namespace sinkd::testing
