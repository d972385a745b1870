// The statistics of audits against scipy, and Holm's correction against its definition.
#include "server/audit/statistics.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "audit_samples.h"

namespace sinkd {
namespace {

using nlohmann::json;

json Oracle(const char* part) {
  return json::parse(testing::ReadText(SINKD_ORACLE_DIR "/audit/statistics.json")).at(part);
}

void ExpectClose(double found, double expected) {
  EXPECT_NEAR(found, expected, 1e-10 * std::max(1.0, std::abs(expected)));
}

TEST(StatisticsTest, DivergesAndCountsAsScipyDoes) {
  const json cases = Oracle("counts");
  ASSERT_GT(cases.size(), 15u);
  for (const json& each : cases) {
    SCOPED_TRACE(each.dump());
    const auto a = each.at("a").get<std::vector<int64_t>>();
    const auto b = each.at("b").get<std::vector<int64_t>>();
    ExpectClose(JensenShannon(a, b), each.at("jensen_shannon"));
    ExpectClose(ChiSquare(a, b), each.at("chi_square"));
  }
}

TEST(StatisticsTest, MeasuresDistributionsApartAsScipyDoes) {
  for (const json& each : Oracle("values")) {
    SCOPED_TRACE(each.dump());
    std::vector<std::pair<double, uint8_t>> pooled;
    for (const json& value : each.at("a")) pooled.emplace_back(value.get<double>(), 0);
    for (const json& value : each.at("b")) pooled.emplace_back(value.get<double>(), 1);
    std::sort(pooled.begin(), pooled.end());
    std::vector<double> sorted;
    std::vector<uint8_t> sides;
    for (const auto& [value, side] : pooled) {
      sorted.push_back(value);
      sides.push_back(side);
    }
    ExpectClose(KolmogorovSmirnov(sorted, sides), each.at("statistic"));
  }
}

TEST(StatisticsTest, CorrectsForManyTestsAsHolmDefinesIt) {
  for (const json& each : Oracle("holm")) {
    const auto p = each.at("p").get<std::vector<double>>();
    const std::vector<double> adjusted = HolmAdjusted(p);
    for (size_t i = 0; i < p.size(); ++i) ExpectClose(adjusted[i], each.at("adjusted")[i]);
  }
  EXPECT_TRUE(HolmAdjusted({}).empty());
}

TEST(StatisticsTest, FindsNothingApartFromAnEmptySet) {
  const std::vector<int64_t> none = {0, 0};
  const std::vector<int64_t> some = {3, 4};
  EXPECT_EQ(JensenShannon(none, some), 0);
  EXPECT_EQ(ChiSquare(some, none), 0);
  EXPECT_EQ(KolmogorovSmirnov(std::vector<double>{1, 2}, std::vector<uint8_t>{1, 1}), 0);
}

}  // namespace
}  // namespace sinkd
