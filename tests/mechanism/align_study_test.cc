#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/mechanism/toy_study.h"

namespace sinkd {
namespace {

using testing::ElementsAre;

const AlignRow& RowOf(const AlignReport& report, Site site, PositionGroup group,
                      std::optional<int32_t> l_start = std::nullopt) {
  for (const AlignRow& row : report.rows) {
    if (row.site == site && row.group == group && row.l_start == l_start) return row;
  }
  ADD_FAILURE() << "no such row";
  static const AlignRow none;
  return none;
}

// Sinks that start at 2 and, once, at 3; as many others.
const std::vector<TokenIds> kSamples = {{0, 1, 2, 2}, {0, 1, 3, 2}};

class Align : public testing::Test {
 protected:
  AlignReport Run(const StudyParameters& parameters) {
    report_ = RunToy(parameters, model_, kSamples);
    return std::get<AlignReport>(report_.findings);
  }
  ToyModel model_;
  StudyReport report_;
};

TEST_F(Align, ComparesEachSiteWithThePrimarySinksAtTheStart) {
  const AlignReport report = Run({.study = AlignParameters{}});
  // mlp_in of a sink that starts at 2 is (0,1,2), of one at 3 (0,1,0); of the primary sink
  // (100,1,0) and (101,1,0).
  const double at_2 = 1 / std::sqrt(5 * 10001.0), at_3 = 1 / std::sqrt(10202.0);
  const AlignRow& inputs = RowOf(report, Site::kMlpIn, PositionGroup::kTarget);
  EXPECT_EQ(inputs.cosine.n, 3);
  EXPECT_NEAR(*inputs.cosine.value, (2 * at_2 + at_3) / 3, 1e-7);
  EXPECT_NEAR(inputs.minimum, at_2, 1e-7);
  EXPECT_NEAR(inputs.median, at_2, 1e-7);
  EXPECT_NEAR(inputs.maximum, at_3, 1e-7);
  EXPECT_NEAR(*RowOf(report, Site::kMlpOut, PositionGroup::kTarget).cosine.value, 1, 1e-7);
  // The MLP writes nothing at a control.
  EXPECT_EQ(RowOf(report, Site::kMlpOut, PositionGroup::kControl).cosine.value, 0);
}

TEST_F(Align, HasRowsOfAllAndOfEachStart) {
  const AlignReport report = Run({.study = AlignParameters{}});
  EXPECT_EQ(report.rows.size(), report.sites.size() * 2 * 3);
  EXPECT_FALSE(report.rows.front().l_start.has_value());
  EXPECT_EQ(RowOf(report, Site::kMlpIn, PositionGroup::kTarget, 2).cosine.n, 2);
  const AlignRow& late = RowOf(report, Site::kMlpIn, PositionGroup::kTarget, 3);
  EXPECT_EQ(late.cosine.n, 1);
  EXPECT_FALSE(late.cosine.lower.has_value());
}

TEST_F(Align, SendsPointsInTheOrderOfThePositions) {
  const AlignReport report = Run({.study = AlignParameters{.points = true}});
  ASSERT_EQ(report_.positions.size(), 6u);
  ASSERT_EQ(report.points.size(), 6u);
  EXPECT_EQ(report_.targets, 3);
  EXPECT_EQ(report_.controls, 3);
  EXPECT_EQ(report_.positions[1].sample_index, 20);
  EXPECT_EQ(report_.positions[1].position, 1);
  EXPECT_EQ(report_.positions[3].group, PositionGroup::kControl);
  EXPECT_FALSE(report_.positions[3].same_token);
  for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(report.points[size_t(i)].index, i);
  EXPECT_NEAR(report.points[0].cosines.back(), 1, 1e-7);
  EXPECT_EQ(report.points[5].cosines.back(), 0);
}

TEST_F(Align, LooksAtOneStartWhenTheFilterSaysSo) {
  const AlignReport report = Run({.targets = {.l_start = 3}, .study = AlignParameters{}});
  EXPECT_EQ(report_.targets, 1);
  EXPECT_EQ(report_.target_l_start, 3);
}

TEST_F(Align, SaysWhyThereIsNothing) {
  const AlignReport report =
      Run({.targets = {.kinds = {SinkKind::kNoise}}, .study = AlignParameters{}});
  const AlignRow& row = RowOf(report, Site::kMlpIn, PositionGroup::kTarget);
  EXPECT_FALSE(row.cosine.value.has_value());
  EXPECT_EQ(row.cosine.undefined, "no targets");
  EXPECT_EQ(RowOf(report, Site::kMlpIn, PositionGroup::kControl).cosine.undefined, "no controls");
}

TEST_F(Align, LeavesOutWhatThereWasNoTimeFor) {
  auto study = NewStudy({.study = AlignParameters{.points = true}}, model_, ToySamples(kSamples));
  ASSERT_TRUE(study->Step({}).ok());
  ASSERT_TRUE(study->Step({}).ok());
  const StudyReport partial = study->Report("out of time");
  const auto& report = std::get<AlignReport>(partial.findings);
  EXPECT_EQ(partial.targets, 1);
  EXPECT_EQ(partial.positions.size(), report.points.size());
  EXPECT_EQ(RowOf(report, Site::kMlpIn, PositionGroup::kTarget).cosine.n, 1);
  EXPECT_EQ(RowOf(report, Site::kMlpIn, PositionGroup::kTarget, 3).cosine.undefined, "out of time");
}

}  // namespace
}  // namespace sinkd
