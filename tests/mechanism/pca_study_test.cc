#include <gtest/gtest.h>

#include "tests/mechanism/toy_study.h"

namespace sinkd {
namespace {

// mlp_in at block 3 is (30,1,2) at the targets, (0,1,2) and (0,2,0) at their controls.
const std::vector<TokenIds> kSamples = {{0, 1, 2}, {0, 4, 1}};

class Pca : public testing::Test {
 protected:
  v1::PcaReport Run(const std::string& pca) {
    return RunToy("pca { " + pca + " }", model_, kSamples).pca();
  }
  ToyModel model_;
};

TEST_F(Pca, FindsTheDirectionAlongWhichTheMlpAnswersAsForThePrimarySink) {
  const v1::PcaReport report = Run("block: 3 scales: [0.5, 2]");
  EXPECT_EQ(report.block(), 3);
  EXPECT_EQ(report.rows(), 4);
  EXPECT_NEAR(report.mean_norm(), std::sqrt(905.0), 1e-5);
  ASSERT_EQ(report.components().size(), 2);  // the rows span no more
  const v1::PcaDirection& first = report.components()[0];
  EXPECT_TRUE(first.effective());
  EXPECT_GT(first.explained_variance(), 0.99);
  ASSERT_EQ(first.trials().size(), 4);
  // The toy's MLP hands back its input, and the primary sink's output is (1,0,0).
  EXPECT_EQ(first.trials()[0].scale(), 0.5);
  EXPECT_NEAR(first.trials()[0].output_norm(), std::sqrt(905.0) / 2, 1e-4);
  EXPECT_NEAR(first.trials()[0].cosine(), 1, 1e-3);
  EXPECT_EQ(first.trials()[1].scale(), -0.5);
  EXPECT_NEAR(first.trials()[1].cosine(), -1, 1e-3);
  EXPECT_EQ(first.trials()[2].scale(), 2);
  EXPECT_FALSE(report.components()[1].effective());
  EXPECT_NEAR(report.components()[1].trials()[0].cosine(), 0, 0.1);
}

TEST_F(Pca, TriesAsManyRandomDirections) {
  const v1::PcaReport report = Run("block: 3 components: 2 scales: [1]");
  ASSERT_EQ(report.components().size(), 2);
  ASSERT_EQ(report.random().size(), 2);
  for (const v1::PcaDirection& direction : report.random()) {
    EXPECT_FALSE(direction.has_explained_variance());
    ASSERT_EQ(direction.trials().size(), 2);
    EXPECT_NEAR(direction.trials()[0].output_norm(), std::sqrt(905.0), 1e-4);
    EXPECT_NEAR(direction.trials()[0].cosine(), -direction.trials()[1].cosine(), 1e-6);
  }
  EXPECT_NE(report.random()[0].trials()[0].cosine(), report.random()[1].trials()[0].cosine());
}

TEST_F(Pca, LooksAtTheTargetsStartByDefault) {
  EXPECT_EQ(Run("").block(), 2);
}

TEST_F(Pca, SaysWhyThereAreNoComponents) {
  const v1::StudyReport none = RunToy("pca {}", model_, {{0, 2, 4}});
  EXPECT_EQ(none.pca().undefined(), "no targets");
  // At block 2 the sink and its control, of one embedding, are still the same.
  const v1::StudyReport same = RunToy("pca {}", model_, {{0, 1, 2}});
  EXPECT_EQ(same.pca().undefined(), "all rows are the same");
}

}  // namespace
}  // namespace sinkd
