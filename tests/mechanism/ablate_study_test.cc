#include <cmath>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/mechanism/toy_study.h"

namespace sinkd {
namespace {

// Position 1 is a target that starts at 2, position 2 one that starts at 3; 3 to 5 never are sinks.
// Of the second sample position 2 is a target that starts at 2; its last points where a primary
// sink without SINK does.
const std::vector<TokenIds> kSamples = {{0, 1, 3, 2, 2, 2}, {0, 2, 1, 4}};

class Ablate : public testing::Test {
 protected:
  v1::AblateReport Run(const std::string& ablate, const std::vector<TokenIds>& samples = kSamples) {
    report_ = RunToy("ablate { " + ablate + " }", model_, samples);
    return report_.ablate();
  }

  static const v1::AblateRow& Row(const v1::AblateReport& report, v1::AblatedGroup group,
                                  v1::AblationRole role = v1::ABLATION_ROLE_SELF) {
    for (const v1::AblateRow& row : report.rows()) {
      if (row.group() == group && row.role() == role) return row;
    }
    ADD_FAILURE() << "no such row";
    return v1::AblateRow::default_instance();
  }

  ToyModel model_;
  v1::StudyReport report_;
};

constexpr char kRemove[] = "ablations: ABLATION_REMOVE_DIRECTION";

TEST_F(Ablate, TakesTheSinkDirectionFromTargets) {
  const v1::AblateReport report = Run(kRemove, {kSamples[0]});
  const v1::AblateRow& row = Row(report, v1::ABLATED_GROUP_TARGETS);
  // Position 2 ends with a SINK of 40, which is the toy's loss there; position 1 ends with none.
  EXPECT_NEAR(*ValueOf(row.loss_change()), -40.0 / 5, 1e-6);
  EXPECT_NEAR(*ValueOf(row.choices_changed()), 1.0 / 5, 1e-12);
  EXPECT_EQ(ValueOf(row.suppressed()), 1);
  EXPECT_EQ(row.suppressed().n(), 2);
  EXPECT_EQ(row.vanished().undefined(), "no other sinks");
  EXPECT_EQ(ValueOf(row.appeared()), 0);
  ASSERT_EQ(row.curve().size(), 3);
  EXPECT_EQ(ValueOf(row.curve(0).loss_change()), 0) << "the first target itself";
  EXPECT_EQ(row.curve(1).first_distance(), 1);
  EXPECT_EQ(row.curve(1).last_distance(), 1);
  EXPECT_NEAR(*ValueOf(row.curve(1).loss_change()), -40, 1e-5);
  EXPECT_EQ(row.curve(2).first_distance(), 2);
  EXPECT_EQ(row.curve(2).last_distance(), 3);
  EXPECT_EQ(row.curve(2).loss_change().n(), 2);
  EXPECT_EQ(report_.targets(), 2);
  EXPECT_EQ(report_.controls(), 1 + 2 + 2);
}

TEST_F(Ablate, TakesTheSinkDirectionFromThePrimarySink) {
  const v1::AblateReport report = Run(kRemove);
  const v1::AblateRow& row = Row(report, v1::ABLATED_GROUP_PRIMARY);
  // SINK is taken at layers 1 to 4; the last block then takes 100 from nothing, not from 102.
  EXPECT_NEAR(*ValueOf(row.loss_change()), (-102.0 / 5 - 102.0 / 3) / 2, 1e-5);
  EXPECT_EQ(row.loss_change().n(), 2);
  EXPECT_FALSE(row.has_suppressed());
  // Without SINK the primary points where CONST does: token 1 is no sink beside it, token 3 is one
  // before its own start, and token 4 becomes one.
  EXPECT_NEAR(*ValueOf(row.vanished()), 2.0 / 3, 1e-12);
  EXPECT_EQ(row.vanished().n(), 3);
  EXPECT_EQ(ValueOf(row.appeared()), 0.5);
  ASSERT_EQ(row.changed_sinks().size(), 3);
  EXPECT_EQ(row.changed_sinks(0).sample_index(), 10);
  EXPECT_EQ(row.changed_sinks(0).position(), 1);
  EXPECT_EQ(row.changed_sinks(0).l_start(), 2);
  EXPECT_FALSE(row.changed_sinks(0).appeared());
  EXPECT_EQ(row.changed_sinks(2).position(), 3);
  EXPECT_EQ(row.changed_sinks(2).token_id(), 4);
  EXPECT_TRUE(row.changed_sinks(2).appeared());
}

TEST_F(Ablate, LeavesControlsWithNothingToLoseAsTheyAre) {
  const v1::AblateReport report = Run(kRemove);
  for (const v1::AblatedGroup group : {v1::ABLATED_GROUP_PRIMARY, v1::ABLATED_GROUP_TARGETS}) {
    for (const v1::AblationRole role :
         {v1::ABLATION_ROLE_DRAWN_CONTROL, v1::ABLATION_ROLE_ATTENDED_CONTROL}) {
      const v1::AblateRow& row = Row(report, group, role);
      EXPECT_EQ(ValueOf(row.loss_change()), 0);
      EXPECT_EQ(ValueOf(row.choices_changed()), 0);
      EXPECT_EQ(ValueOf(row.vanished()), 0);
      EXPECT_EQ(row.vanished().n(), 3) << "targets too are other sinks here";
      EXPECT_EQ(ValueOf(row.appeared()), 0);
      EXPECT_FALSE(row.has_suppressed());
    }
  }
}

TEST_F(Ablate, AblatesTheMostFrequentLevelsByThemselves) {
  const v1::AblateReport report = Run(std::string(kRemove) + " levels: 1");
  const v1::AblateRow& row = Row(report, v1::ABLATED_GROUP_LEVEL);
  EXPECT_EQ(row.l_start(), 2);
  EXPECT_EQ(row.lifetime(), 2);
  EXPECT_EQ(row.suppressed().n(), 2) << "one of each sample";
  EXPECT_EQ(row.vanished().n(), 1) << "the target of the other level";
  EXPECT_EQ(report.rows().size(), 3 * 3);
}

TEST_F(Ablate, AblatesHeadsOneAtATimeAndAllSoftmaxesTogether) {
  const v1::AblateReport report =
      Run("ablations: [ABLATION_ZERO_HEAD, ABLATION_SOFTMAX_PLUS_ONE] heads: 2");
  ASSERT_EQ(report.rows().size(), 2 + 2 + 1);
  std::set<int32_t> blocks;
  for (const v1::AblateRow& row : report.rows()) {
    EXPECT_EQ(ValueOf(row.loss_change()), 0) << "in the toy, attention adds nothing";
    EXPECT_EQ(row.has_block(), row.group() == v1::ABLATED_GROUP_HEAD);
    if (row.has_block()) blocks.insert(row.block());
    EXPECT_EQ(row.curve(0).loss_change().n(), 2) << "from the primary sink on";
  }
  EXPECT_EQ(blocks.size(), 4u) << "no head twice";
  // Alpha is the same in all: the first in order.
  EXPECT_EQ(report.rows(0).block(), 0);
  EXPECT_EQ(report.rows(1).block(), 1);
}

TEST_F(Ablate, RunsAllVariantsOfASampleTogetherAndCountsThem) {
  const v1::AblateReport report =
      Run("ablations: ABLATION_HIDE_KEYS ablations: ABLATION_SOFTMAX_PLUS_ONE levels: 0",
          {kSamples[0]});
  EXPECT_THAT(model_.variants_run, testing::ElementsAre(3 + 3 + 1));
  // The toy counts what follows a variant's first block. Beside the sweep: two blocks to capture
  // what the primary sink's writes, and six to see attention.
  EXPECT_EQ(report.cost().naive_block_rows(), 6 * 6 * (1 + 7));
  EXPECT_EQ(report.cost().block_rows(), 6 * (6 + (2 + 6) + 3 * 3 + 3 * 2 + 5));
}

TEST_F(Ablate, HasNoControlsWhereNoPositionIsLeft) {
  const v1::AblateReport report = Run(kRemove, {{0, 1}});
  EXPECT_EQ(Row(report, v1::ABLATED_GROUP_TARGETS, v1::ABLATION_ROLE_DRAWN_CONTROL)
                .loss_change()
                .undefined(),
            "no sample has such positions");
  EXPECT_NEAR(*ValueOf(Row(report, v1::ABLATED_GROUP_PRIMARY).loss_change()), -102, 1e-4);
  EXPECT_NEAR(*ValueOf(report.loss()), (2 + 0) / 2.0, 1e-6) << "the toy's, over all positions";
}

TEST_F(Ablate, LosesOnlyTheSampleInWhichItIsStopped) {
  auto study = NewStudy(Ask(std::string("ablate { ") + kRemove + " }"), model_,
                        ToySamples({kSamples[0], kSamples[0]}));
  while (study->progress().phase != "ablate") ASSERT_TRUE(study->Step({}).ok());
  ASSERT_TRUE(study->Step({}).ok());
  model_.calls_left = 0;
  EXPECT_EQ(study->Step({}).code(), absl::StatusCode::kCancelled);
  const v1::StudyReport report = study->Report("out of time");
  EXPECT_EQ(report.samples(), 1);
  EXPECT_EQ(report.ablate().rows(0).loss_change().n(), 1);
}

TEST_F(Ablate, SaysWhyThereIsNothing) {
  EXPECT_EQ(Run("ablations: ABLATION_ZERO_HEAD heads: 0").undefined(), "nothing to ablate");
}

}  // namespace
}  // namespace sinkd
