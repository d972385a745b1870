#include "server/analysis/catalog.h"

#include <set>

#include <gtest/gtest.h>

namespace sinkd {
namespace {

TEST(Catalog, DescribesEveryAnalysisOnce) {
  std::set<std::string_view> names;
  for (const AnalysisEntry& analysis : Analyses()) {
    EXPECT_TRUE(names.insert(analysis.name).second) << analysis.name;
    EXPECT_FALSE(analysis.description.empty()) << analysis.name;
    EXPECT_FALSE(analysis.needs.empty()) << analysis.name;
    ASSERT_NE(analysis.requested, nullptr) << analysis.name;
  }
  EXPECT_EQ(names, (std::set<std::string_view>{"detection", "scores", "sink_rate", "levels",
                                               "regression", "compensation", "portrait"}));
}

TEST(Catalog, RunsDetectionAloneWhenNothingElseIsRequested) {
  for (const AnalysisEntry& analysis : Analyses()) {
    EXPECT_EQ(analysis.requested(v1::AnalysisSpec()), analysis.name == "detection")
        << analysis.name;
  }
}

}  // namespace
}  // namespace sinkd
