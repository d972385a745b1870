#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/mechanism/toy_study.h"

namespace sinkd {
namespace {

using testing::ElementsAre;

const v1::AlignRow& RowOf(const v1::AlignReport& report, v1::Site site, v1::PositionGroup group,
                          std::optional<int32_t> l_start = std::nullopt) {
  for (const v1::AlignRow& row : report.rows()) {
    if (row.site() == site && row.group() == group &&
        (row.has_l_start() ? std::optional(row.l_start()) : std::nullopt) == l_start) {
      return row;
    }
  }
  ADD_FAILURE() << "no such row";
  static const v1::AlignRow none;
  return none;
}

// Sinks that start at 2 and, once, at 3; as many others.
const std::vector<TokenIds> kSamples = {{0, 1, 2, 2}, {0, 1, 3, 2}};

class Align : public testing::Test {
 protected:
  v1::AlignReport Run(const std::string& request) {
    report_ = RunToy(request, model_, kSamples);
    return report_.align();
  }
  ToyModel model_;
  v1::StudyReport report_;
};

TEST_F(Align, ComparesEachSiteWithThePrimarySinksAtTheStart) {
  const v1::AlignReport report = Run("align {}");
  // mlp_in of a sink that starts at 2 is (0,1,2), of one at 3 (0,1,0); of the primary sink
  // (100,1,0) and (101,1,0).
  const double at_2 = 1 / std::sqrt(5 * 10001.0), at_3 = 1 / std::sqrt(10202.0);
  const v1::AlignRow& inputs = RowOf(report, v1::SITE_MLP_IN, v1::POSITION_GROUP_TARGET);
  EXPECT_EQ(inputs.cosine().n(), 3);
  EXPECT_NEAR(*ValueOf(inputs.cosine()), (2 * at_2 + at_3) / 3, 1e-7);
  EXPECT_NEAR(inputs.minimum(), at_2, 1e-7);
  EXPECT_NEAR(inputs.median(), at_2, 1e-7);
  EXPECT_NEAR(inputs.maximum(), at_3, 1e-7);
  EXPECT_NEAR(*ValueOf(RowOf(report, v1::SITE_MLP_OUT, v1::POSITION_GROUP_TARGET).cosine()), 1,
              1e-7);
  // The MLP writes nothing at a control.
  EXPECT_EQ(ValueOf(RowOf(report, v1::SITE_MLP_OUT, v1::POSITION_GROUP_CONTROL).cosine()), 0);
}

TEST_F(Align, HasRowsOfAllAndOfEachStart) {
  const v1::AlignReport report = Run("align {}");
  EXPECT_EQ(report.rows().size(), report.sites().size() * 2 * 3);
  EXPECT_FALSE(report.rows(0).has_l_start());
  EXPECT_EQ(RowOf(report, v1::SITE_MLP_IN, v1::POSITION_GROUP_TARGET, 2).cosine().n(), 2);
  const v1::AlignRow& late = RowOf(report, v1::SITE_MLP_IN, v1::POSITION_GROUP_TARGET, 3);
  EXPECT_EQ(late.cosine().n(), 1);
  EXPECT_FALSE(late.cosine().has_lower());
}

TEST_F(Align, SendsPointsInTheOrderOfThePositions) {
  const v1::AlignReport report = Run("align { points: true }");
  ASSERT_EQ(report_.positions().size(), 6);
  ASSERT_EQ(report.points().size(), 6);
  EXPECT_EQ(report_.targets(), 3);
  EXPECT_EQ(report_.controls(), 3);
  EXPECT_EQ(report_.positions()[1].sample_index(), 20);
  EXPECT_EQ(report_.positions()[1].position(), 1);
  EXPECT_EQ(report_.positions()[3].group(), v1::POSITION_GROUP_CONTROL);
  EXPECT_FALSE(report_.positions()[3].same_token());
  for (int i = 0; i < 6; ++i) EXPECT_EQ(report.points(i).index(), i);
  EXPECT_NEAR(report.points()[0].cosines().rbegin()[0], 1, 1e-7);
  EXPECT_EQ(report.points()[5].cosines().rbegin()[0], 0);
}

TEST_F(Align, LooksAtOneStartWhenTheFilterSaysSo) {
  const v1::AlignReport report = Run("targets { l_start: 3 } align {}");
  EXPECT_EQ(report_.targets(), 1);
  EXPECT_EQ(report_.target_l_start(), 3);
}

TEST_F(Align, SaysWhyThereIsNothing) {
  const v1::AlignReport report = Run("targets { kinds: [SINK_KIND_NOISE] } align {}");
  const v1::AlignRow& row = RowOf(report, v1::SITE_MLP_IN, v1::POSITION_GROUP_TARGET);
  EXPECT_FALSE(row.cosine().has_value());
  EXPECT_EQ(row.cosine().undefined(), "no targets");
  EXPECT_EQ(RowOf(report, v1::SITE_MLP_IN, v1::POSITION_GROUP_CONTROL).cosine().undefined(),
            "no controls");
}

TEST_F(Align, LeavesOutWhatThereWasNoTimeFor) {
  auto study = NewStudy(Ask("align { points: true }"), model_, ToySamples(kSamples));
  ASSERT_TRUE(study->Step({}).ok());
  ASSERT_TRUE(study->Step({}).ok());
  const v1::StudyReport partial = study->Report("out of time");
  const auto& report = partial.align();
  EXPECT_EQ(partial.targets(), 1);
  EXPECT_EQ(partial.positions().size(), report.points().size());
  EXPECT_EQ(RowOf(report, v1::SITE_MLP_IN, v1::POSITION_GROUP_TARGET).cosine().n(), 1);
  EXPECT_EQ(RowOf(report, v1::SITE_MLP_IN, v1::POSITION_GROUP_TARGET, 3).cosine().undefined(),
            "out of time");
}

}  // namespace
}  // namespace sinkd
