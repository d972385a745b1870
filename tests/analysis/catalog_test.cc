#include "server/analysis/catalog.h"

#include <set>

#include <gtest/gtest.h>

#include "tests/analysis/spec_text.h"

namespace sinkd {
namespace {

TEST(Catalog, DescribesEveryAnalysisOnce) {
  std::set<std::string_view> names;
  for (const AnalysisEntry& analysis : Analyses()) {
    EXPECT_TRUE(names.insert(analysis.name).second) << analysis.name;
    EXPECT_FALSE(analysis.description.empty()) << analysis.name;
    EXPECT_FALSE(analysis.needs.empty()) << analysis.name;
    const auto* field = v1::AnalysisSpec::descriptor()->FindFieldByName(std::string(analysis.name));
    ASSERT_TRUE(field != nullptr && field->message_type() != nullptr) << analysis.name;
    if (analysis.folds.empty()) continue;
    EXPECT_EQ(AnalysisNamed(analysis.folds).folds, analysis.folds) << analysis.name;
  }
  EXPECT_EQ(names, (std::set<std::string_view>{"detection", "scores", "sink_rate", "levels",
                                               "regression", "compensation", "heads", "portrait"}));
}

TEST(Catalog, RunsDetectionAloneWhenNothingElseIsRequested) {
  for (const AnalysisEntry& analysis : Analyses()) {
    EXPECT_EQ(Requested(analysis, SpecFrom("")), analysis.name == "detection") << analysis.name;
  }
}

}  // namespace
}  // namespace sinkd
