// Statistics of whole states against transformers with hooks, on tiny checkpoints of several
// families and on SmolLM2.
#include "server/engine/state_statistics.h"

#include <cmath>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/engine/oracle_files.h"

namespace sinkd::testing {
namespace {

using Json = nlohmann::json;

constexpr double kTolerance = 1e-4;  // relative
constexpr size_t kSmolLm2 = 5;       // its place in the oracle

class StateStatistics : public ::testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    const auto file = OracleFolder() / "state_statistics" / "state_statistics.json";
    sample_ = Json::parse(std::ifstream(file)).at(GetParam());
    const std::string checkpoint = sample_["checkpoint"];
    SCOPED_TRACE(checkpoint);
    auto model = Model::Load(OracleFolder() / checkpoint, {.compute_type = ComputeType::kFloat32});
    ASSERT_TRUE(model.ok()) << model.status();
    model_ = *std::move(model);
    ids_ = sample_["ids"].get<TokenIds>();
  }
  ~StateStatistics() override {
    printf("largest relative difference to transformers: %.1e\n", largest_);
  }

  const Json& Block(size_t block) const { return sample_["blocks"].at(block); }
  size_t blocks() const { return sample_["blocks"].size(); }

  void Compare(double got, double want, const std::string& what) {
    const double difference = got == want ? 0 : std::fabs(got - want) / std::fabs(want);
    EXPECT_LE(difference, kTolerance) << what << ": " << got << ", expected " << want;
    largest_ = std::max(largest_, difference);
  }

  Json sample_;
  std::unique_ptr<Model> model_;
  TokenIds ids_;
  double largest_ = 0;
};

TEST_P(StateStatistics, NormsEqualTransformers) {
  const auto norms = MeasureNorms(*model_, ids_, {});
  ASSERT_TRUE(norms.ok()) << norms.status();
  ASSERT_EQ(norms->layers, static_cast<int64_t>(blocks()));
  ASSERT_EQ(norms->positions, static_cast<int64_t>(ids_.size()));
  for (const auto& [what, values] :
       {std::pair{"key", &norms->key}, {"value", &norms->value}, {"state", &norms->state}}) {
    ASSERT_EQ(values->size(), blocks() * ids_.size()) << what;
    for (size_t i = 0; i < values->size(); ++i) {
      Compare((*values)[i], Block(i / ids_.size())[what][i % ids_.size()], what);
    }
  }
}

TEST_P(StateStatistics, LargeEntriesEqualTransformers) {
  const auto rest = sample_["rest"].get<std::vector<int64_t>>();
  const auto found = FindLargeEntries(*model_, ids_, 5, rest, {});
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->size(), blocks());
  for (size_t l = 0; l < blocks(); ++l) {
    const Json& expected = Block(l);
    const BlockEntries& block = (*found)[l];
    Compare(block.median, expected["median"], "median");
    Compare(block.largest_of_rest, expected["largest_of_rest"], "largest of the rest");
    ASSERT_EQ(block.largest.size(), expected["largest"].size());
    for (size_t i = 0; i < block.largest.size(); ++i) {
      const Json& entry = expected["largest"][i];
      EXPECT_EQ(block.largest[i].position, entry["position"]) << "block " << l;
      EXPECT_EQ(block.largest[i].channel, entry["channel"]) << "block " << l;
      Compare(block.largest[i].value, entry["value"], "entry");
    }
  }
}

TEST_P(StateStatistics, EntropyEqualsTransformersAndNumpy) {
  const auto windows = sample_["windows"].get<std::vector<std::vector<int64_t>>>();
  for (size_t a = 0; a < sample_["alphas"].size(); ++a) {
    const auto found = MeasureEntropy(*model_, ids_, windows, sample_["alphas"][a], {});
    ASSERT_TRUE(found.ok()) << found.status();
    ASSERT_EQ(found->size(), windows.size());
    for (size_t w = 0; w < windows.size(); ++w) {
      ASSERT_EQ((*found)[w].size(), blocks());
      for (size_t l = 0; l < blocks(); ++l) {
        const BlockEntropy& block = (*found)[w][l];
        EXPECT_EQ(block.undefined, "");
        const double want = Block(l)["entropy"][w][a];
        // One state has no entropy, which numpy misses by a rounding.
        if (windows[w].size() == 1) {
          EXPECT_NEAR(block.entropy, 0, 1e-14);
        } else {
          Compare(block.entropy, want, "entropy");
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryCheckpoint, StateStatistics, ::testing::Range<size_t>(0, 6));

class SmolLm2 : public StateStatistics {};

TEST_P(SmolLm2, ShowsItsMassiveChannelWhereThePrimarySinkAppears) {
  const auto norms = MeasureNorms(*model_, ids_, {});
  const auto entries = FindLargeEntries(*model_, ids_, 3, {}, {});
  ASSERT_TRUE(norms.ok() && entries.ok()) << norms.status() << entries.status();
  const auto first = [&](size_t block) { return norms->state[block * ids_.size()]; };
  EXPECT_LT(first(10), 1000);
  EXPECT_NEAR(first(11), 25000, 500);
  for (size_t l = 11; l < 28; ++l) {
    const LargeEntry& largest = (*entries)[l].largest.front();
    EXPECT_EQ(largest.position, 0);
    EXPECT_EQ(largest.channel, (*entries)[11].largest.front().channel);
    EXPECT_GT(largest.value, 1000 * (*entries)[l].median);
    EXPECT_EQ((*entries)[l].largest_of_rest, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Alone, SmolLm2, ::testing::Values(kSmolLm2));

class StateStatisticsOfOne : public StateStatistics {};

TEST_P(StateStatisticsOfOne, SaysWhatIsUndefined) {
  const std::vector<std::vector<int64_t>> windows = {{}, {0, 1}};
  const auto found = MeasureEntropy(*model_, ids_, windows, 1, {});
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ((*found)[0].front().undefined, "no positions");
  EXPECT_EQ((*found)[0].front().entropy, 0);
  EXPECT_EQ((*found)[1].front().undefined, "");
}

TEST_P(StateStatisticsOfOne, GivesNoMoreEntriesThanThereAre) {
  const TokenIds one = {ids_.front()};
  const auto found = FindLargeEntries(*model_, one, 1'000'000, {}, {});
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->front().largest.size(), static_cast<size_t>(model_->info().spec.hidden));
}

TEST_P(StateStatisticsOfOne, RefusesWhatItCannotTake) {
  const auto refused = [](const auto& result) {
    return result.status().code() == absl::StatusCode::kInvalidArgument;
  };
  const auto count = static_cast<int64_t>(ids_.size());
  const std::vector<int64_t> past = {count}, negative = {-1};
  EXPECT_TRUE(refused(MeasureNorms(*model_, {}, {})));
  EXPECT_TRUE(refused(MeasureNorms(*model_, {1'000'000}, {})));
  EXPECT_TRUE(refused(FindLargeEntries(*model_, ids_, 0, {}, {})));
  EXPECT_TRUE(refused(FindLargeEntries(*model_, ids_, 3, past, {})));
  EXPECT_TRUE(refused(MeasureEntropy(*model_, ids_, {{negative}}, 1, {})));
  EXPECT_TRUE(refused(MeasureEntropy(*model_, ids_, {}, 0, {})));
  EXPECT_TRUE(refused(MeasureEntropy(*model_, ids_, {}, std::nan(""), {})));
}

TEST_P(StateStatisticsOfOne, StopsWhenAsked) {
  std::stop_source source;
  source.request_stop();
  const auto found = MeasureNorms(*model_, ids_, source.get_token());
  EXPECT_EQ(found.status().code(), absl::StatusCode::kCancelled);
}

INSTANTIATE_TEST_SUITE_P(OneCheckpoint, StateStatisticsOfOne, ::testing::Values(size_t{0}));

}  // namespace
}  // namespace sinkd::testing
