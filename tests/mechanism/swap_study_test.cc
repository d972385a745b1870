#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/mechanism/toy_study.h"

namespace sinkd {
namespace {

// Position 1 is a target that starts at 2; 2 a sink that starts at 3; 3 to 5 never are.
const std::vector<TokenIds> kSamples = {{0, 1, 3, 2, 2, 2}, {0, 2, 1, 4}};

class Swap : public testing::Test {
 protected:
  v1::SwapReport Run(const std::string& swap, const std::vector<TokenIds>& samples = kSamples) {
    report_ = RunToy("targets { l_start: 2 } swap { " + swap + " }", model_, samples);
    return report_.swap();
  }
  ToyModel model_;
  v1::StudyReport report_;
};

TEST_F(Swap, EndsTargetsWhereTheirCauseIsTaken) {
  const v1::SwapReport report = Run("blocks: [1, 2, 3] sites: [SITE_MLP_OUT]");
  ASSERT_EQ(report.rows().size(), 3);
  // What the MLP writes at block 1 is the same for targets and controls: nothing.
  EXPECT_EQ(ValueOf(report.rows()[0].targets().suppressed()), 0);
  EXPECT_EQ(ValueOf(report.rows()[0].targets().cosine_change()), 0);
  // At block 2 it is what makes the sink.
  const v1::SinkOutcome& made = report.rows()[1].targets();
  EXPECT_EQ(ValueOf(made.suppressed()), 1);
  EXPECT_EQ(made.suppressed().n(), 2);
  const double before = (30 * 101 + 1) / std::sqrt(905.0 * 10202.0);
  const double after = 1 / std::sqrt(5 * 10202.0);
  EXPECT_NEAR(*ValueOf(made.cosine_change()), after - before, 1e-6);
  EXPECT_NEAR(*ValueOf(made.norm_change()), std::sqrt(5.0) - std::sqrt(905.0), 1e-5);
  // Left without the 30, the 30 that block 4 takes off show there, against the primary sink.
  EXPECT_EQ(ValueOf(made.lifetime_change()), -1);
  // Block 3 comes too late.
  EXPECT_EQ(ValueOf(report.rows()[2].targets().suppressed()), 0);
}

TEST_F(Swap, GivesTargetsTheMeanOfTheirControls) {
  // Its state becomes that of the controls, (0,1,2), which has the norm of its own at block 1.
  const v1::SwapReport report = Run("blocks: [1, 2] sites: [SITE_RESID_POST]", {kSamples[0]});
  EXPECT_EQ(ValueOf(report.rows()[0].targets().suppressed()), 0);
  EXPECT_NEAR(*ValueOf(report.rows()[1].targets().norm_change()), std::sqrt(5.0) - std::sqrt(905.0),
              1e-5);
  EXPECT_EQ(ValueOf(report.rows()[1].targets().suppressed()), 1);
}

TEST_F(Swap, LeavesUntouchedSinksAndSwappedControlsAsTheyWere) {
  const v1::SwapReport report = Run("blocks: [2] sites: [SITE_MLP_OUT, SITE_RESID_POST]");
  for (const v1::SwapRow& row : report.rows()) {
    EXPECT_EQ(row.untouched().suppressed().n(), 1);
    EXPECT_EQ(ValueOf(row.untouched().suppressed()), 0);
    EXPECT_EQ(ValueOf(row.untouched().lifetime_change()), 0);
    EXPECT_EQ(row.control_swap().suppressed().n(), 2);
    EXPECT_EQ(ValueOf(row.control_swap().suppressed()), 0);
    EXPECT_EQ(ValueOf(row.control_swap().norm_change()), 0);
  }
}

TEST_F(Swap, MeasuresTheLossWhenAsked) {
  EXPECT_FALSE(Run("blocks: [3]").rows()[0].has_loss_change());
  // resid_post at block 3: the target's SINK of 30 becomes 0 there and -30 after block 4; the
  // toy's loss is the mean of SINK over positions.
  const v1::SwapReport report =
      Run("blocks: [3] sites: [SITE_RESID_POST] loss: true", {kSamples[0]});
  EXPECT_NEAR(*ValueOf(report.rows()[0].loss_change()), -30.0 / 6, 1e-5);
  EXPECT_NEAR(*ValueOf(report.rows()[0].control_loss_change()), 0, 1e-6);
}

TEST_F(Swap, LeavesOutSamplesWithoutTargetsOrControls) {
  const v1::SwapReport report = Run("blocks: [2]", {{0, 1, 2}, {0, 2, 2}, {0, 1, 3}});
  EXPECT_EQ(report.samples_left_out(), 2);
  EXPECT_EQ(report.rows()[0].targets().suppressed().n(), 1);
  EXPECT_EQ(report_.controls(), 1);
}

TEST_F(Swap, DrawsNoMoreControlsThanAsked) {
  Run("blocks: [2] controls_per_sample: 2");
  EXPECT_EQ(report_.controls(), 4);
}

TEST_F(Swap, RunsAllVariantsOfASampleTogetherAndCountsThem) {
  const v1::SwapReport report = Run("blocks: [1, 2] sites: [SITE_MLP_OUT]");
  EXPECT_THAT(model_.variants_run, testing::ElementsAre(4, 4));
  // Per position: 3 blocks to capture, 6 of the pass as it is, twice 4 and twice 3 of variants;
  // the naive cost is five whole passes.
  EXPECT_EQ(report.cost().block_rows(), 10 * (3 + 6 + 8 + 6));
  EXPECT_EQ(report.cost().naive_block_rows(), 10 * 5 * 6);
}

TEST_F(Swap, SweepsTheSixBlocksUpToTheStartByDefault) {
  const v1::SwapReport report = Run("");
  ASSERT_EQ(report.rows().size(), 9);
  EXPECT_EQ(report.rows(0).block(), 0);
  EXPECT_EQ(report.rows(8).block(), 2);
}

TEST_F(Swap, SaysWhyThereIsNothing) {
  EXPECT_EQ(Run("", {{0, 2, 2}}).undefined(), "no targets");
  const v1::SwapReport report = Run("blocks: [2]", {{0, 1}});
  EXPECT_EQ(report.rows()[0].targets().suppressed().undefined(),
            "no targets with controls beside them");
}

TEST_F(Swap, LosesOnlyTheSampleInWhichItIsStopped) {
  auto study =
      NewStudy(Ask("targets { l_start: 2 } swap { blocks: 2 }"), model_, ToySamples(kSamples));
  ASSERT_TRUE(study->Step({}).ok());
  ASSERT_TRUE(study->Step({}).ok());
  model_.calls_left = 1;
  EXPECT_EQ(study->Step({}).code(), absl::StatusCode::kCancelled);
  const v1::StudyReport report = study->Report("out of time");
  EXPECT_EQ(report.samples(), 1);
  EXPECT_EQ(report.controls(), 3);
  EXPECT_EQ(report.swap().rows()[0].targets().suppressed().n(), 1);
}

}  // namespace
}  // namespace sinkd
