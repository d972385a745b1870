// Policies: what is read, and what a wrong one is told. tests/audit/refused holds wrong ones, each
// with its error in the first line.
#include "server/audit/policy.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audit_samples.h"
#include "server/audit/measures.h"
#include "server/base/status.h"

namespace sinkd {
namespace {

using ::testing::HasSubstr;

TEST(PolicyTest, ReadsEveryField) {
  const Policy policy = testing::ReadPolicyOrDie(R"(
name: "5"
alpha: 0.1
draws: 400
rules:
  - measure: lost_levels
    at_most: +1
    min_share: 0.125
    min_samples: 3
    min_sinks: 7
  - {name: slope, measure: regression_slope, of: ratio, at_least: -1e-3, at_most: 2, test: true,
     y: lifetime, form: log-log}
)");
  EXPECT_EQ(policy.name, "5");
  EXPECT_EQ(policy.alpha, 0.1);
  EXPECT_EQ(policy.draws, 400);
  ASSERT_EQ(policy.rules.size(), 2u);
  const Rule& lost = policy.rules[0];
  EXPECT_EQ(lost.name, "lost_levels");
  EXPECT_EQ(lost.measure->name, "lost_levels");
  EXPECT_EQ(lost.of, Quantity::kValue);
  EXPECT_EQ(lost.at_most, 1);
  EXPECT_FALSE(lost.at_least.has_value());
  EXPECT_FALSE(lost.test);
  EXPECT_EQ(lost.options.min_share, 0.125);
  EXPECT_EQ(lost.min_samples, 3);
  EXPECT_EQ(lost.min_sinks, 7);
  EXPECT_TRUE(lost.needs_baseline());
  const Rule& slope = policy.rules[1];
  EXPECT_EQ(slope.name, "slope");
  EXPECT_EQ(slope.of, Quantity::kRatio);
  EXPECT_EQ(slope.at_least, -0.001);
  EXPECT_TRUE(slope.test);
  EXPECT_TRUE(slope.options.lifetime);
  EXPECT_EQ(slope.options.form, v1::REGRESSION_FORM_LOG_LOG);
  EXPECT_EQ(slope.min_samples, 20);
}

TEST(PolicyTest, ReadsEveryReadyPolicy) {
  int read = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(SINKD_SOURCE_DIR "/deploy/policies")) {
    if (entry.path().extension() != ".yaml") continue;
    const auto policy = ParsePolicy(testing::ReadText(entry.path()));
    EXPECT_TRUE(policy.ok()) << entry.path() << ": " << policy.status();
    ++read;
  }
  EXPECT_GE(read, 2);
}

TEST(PolicyTest, SaysWhereAWrongPolicyIsWrongAndTheWayOut) {
  int refused = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(SINKD_SOURCE_DIR "/tests/audit/refused")) {
    const std::string text = testing::ReadText(entry.path());
    SCOPED_TRACE(entry.path());
    const auto policy = ParsePolicy(text);
    ASSERT_FALSE(policy.ok());
    EXPECT_EQ(policy.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(GetErrorDetail(policy.status())->reason, "BAD_POLICY");
    EXPECT_THAT(std::string(policy.status().message()),
                HasSubstr(text.substr(2, text.find('\n') - 2)));
    ++refused;
  }
  EXPECT_GE(refused, 20);
}

TEST(PolicyTest, SurvivesWhatIsNoPolicyAtAll) {
  std::string deep;
  for (int i = 0; i < 20'000; ++i) deep += '[';
  std::string laughs = "a: &a [x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c <= 'z'; ++c) {
    laughs += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 8; ++i) laughs += std::string(i ? ", *" : "*") + static_cast<char>(c - 1);
    laughs += "]\n";
  }
  for (const std::string& text :
       {std::string(), std::string("\0\0", 2), std::string("\xff\xfe"), std::string("{"), deep,
        laughs, std::string(kMaxPolicyBytes + 1, '#'), std::string("- a"), std::string("*x"),
        std::string("? {a: b}\n: c"), std::string("name: !!binary aGk=\nrules: 3")}) {
    const auto policy = ParsePolicy(text);
    ASSERT_FALSE(policy.ok()) << text.substr(0, 40);
    EXPECT_EQ(GetErrorDetail(policy.status())->reason, "BAD_POLICY");
  }
}

TEST(PolicyTest, ListsEveryMeasureOnceInTheSchemaAndTheDocumentation) {
  const std::string schema = testing::ReadText(SINKD_SOURCE_DIR "/docs/policy.schema.json");
  const std::string page = testing::ReadText(SINKD_SOURCE_DIR "/docs/audits.md");
  for (const std::string_view name : MeasureNames()) {
    EXPECT_THAT(schema, HasSubstr('"' + std::string(name) + '"'));
    EXPECT_THAT(page, HasSubstr('`' + std::string(name) + '`'));
  }
}

}  // namespace
}  // namespace sinkd
