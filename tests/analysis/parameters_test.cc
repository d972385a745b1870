#include "server/analysis/parameters.h"

#include <cmath>
#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/base/status.h"

namespace sinkd {
namespace {

using testing::HasSubstr;

AnalysisSpec Everything() {
  AnalysisSpec spec;
  spec.scores.emplace();
  spec.sink_rate.emplace();
  spec.levels.emplace();
  spec.regression.emplace();
  spec.compensation.emplace();
  return spec;
}

TEST(Parameters, AreValidByDefaultAndInBothPresets) {
  AnalysisSpec spec = Everything();
  EXPECT_TRUE(Validate({}).ok());
  EXPECT_TRUE(Validate(spec).ok());
  spec.detection = PaperTextDetection();
  spec.sink_rate->first_tokens = 64;
  EXPECT_TRUE(Validate(spec).ok());
  EXPECT_EQ(spec.detection.cosine_threshold, 0.95);
  EXPECT_EQ(spec.detection.min_norm_ratio, 3);
}

struct BadValue {
  const char* field;
  const char* limit;
  const char* value;
  void (*set)(AnalysisSpec&);
};
void PrintTo(const BadValue& bad, std::ostream* out) {
  *out << bad.field << " = " << bad.value;
}

class BadParameter : public testing::TestWithParam<BadValue> {};

TEST_P(BadParameter, IsNamedWithItsValueAndLimit) {
  AnalysisSpec spec = Everything();
  GetParam().set(spec);
  const absl::Status status = Validate(spec);
  ASSERT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  const std::string message(status.message());
  EXPECT_THAT(message, HasSubstr(std::string("spec.") + GetParam().field));
  EXPECT_THAT(message, HasSubstr(GetParam().limit));
  EXPECT_THAT(message, HasSubstr(std::string("got ") + GetParam().value));
  EXPECT_EQ(GetErrorDetail(status)->subject, std::string("spec.") + GetParam().field);
}

#define BAD(field, limit, text, value)                            \
  BadValue {                                                      \
    #field, limit, text, [](AnalysisSpec& s) { s.field = value; } \
  }
#define BAD_IN(part, field, limit, text, value)                                   \
  BadValue {                                                                      \
    #part "." #field, limit, text, [](AnalysisSpec& s) { s.part->field = value; } \
  }

INSTANTIATE_TEST_SUITE_P(
    Parameters, BadParameter,
    testing::Values(BAD(detection.cosine_threshold, "over 0 and under 1", "0", 0),
                    BAD(detection.cosine_threshold, "over 0 and under 1", "1", 1),
                    BAD(detection.cosine_threshold, "over 0 and under 1", "-0.5", -0.5),
                    BAD(detection.cosine_threshold, "over 0 and under 1", "nan", std::nan("")),
                    BAD(detection.min_norm_ratio, "from 0 to 1e6", "-1", -1),
                    BAD(detection.min_norm_ratio, "from 0 to 1e6", "inf", INFINITY),
                    BAD(detection.kind_rule, "a known rule", "7", static_cast<KindRule>(7)),
                    BAD(detection.last_state, "normed or raw", "7", static_cast<LastState>(7)),
                    BAD_IN(scores, divisor, "from position or all", "7",
                           static_cast<QueryDivisor>(7)),
                    BAD_IN(sink_rate, epsilon, "at least 0 and under 1", "1", 1),
                    BAD_IN(sink_rate, epsilon, "at least 0 and under 1", "-0.1", -0.1),
                    BAD_IN(sink_rate, epsilon, "at least 0 and under 1", "nan", std::nan("")),
                    BAD_IN(sink_rate, positions, "from 1 to 4096", "0", 0),
                    BAD_IN(sink_rate, positions, "from 1 to 4096", "4097", 4097),
                    BAD_IN(sink_rate, first_tokens, "from 0 to 4096", "-1", -1),
                    BAD_IN(sink_rate, first_tokens, "from 0 to 4096", "5000", 5000),
                    BAD_IN(levels, min_share, "from 0 to 1", "1.5", 1.5),
                    BAD_IN(levels, min_share, "from 0 to 1", "nan", std::nan("")),
                    BAD_IN(levels, top_tokens, "from 0 to 1000", "-1", -1),
                    BAD_IN(levels, top_tokens, "from 0 to 1000", "1001", 1001),
                    BAD_IN(compensation, bootstrap_samples, "from 0 to 10000", "-1", -1),
                    BAD_IN(compensation, bootstrap_samples, "from 0 to 10000", "10001", 10001)));

TEST(RequiredTrace, LeavesAttentionOutWhenOnlyStatesAreNeeded) {
  AnalysisSpec spec;
  spec.levels.emplace();
  spec.detection.last_state = LastState::kRaw;
  EXPECT_EQ(RequiredTrace(spec), (TraceRequest{LastState::kRaw, false, 0}));
}

TEST(RequiredTrace, AsksForAttentionForEveryAnalysisThatScores) {
  AnalysisSpec scores, rate, regression, compensation;
  scores.scores.emplace();
  rate.sink_rate = {.first_tokens = 64};
  regression.regression.emplace();
  compensation.compensation.emplace();
  EXPECT_TRUE(RequiredTrace(scores).attention);
  EXPECT_EQ(RequiredTrace(rate), (TraceRequest{LastState::kNormed, true, 64}));
  EXPECT_TRUE(RequiredTrace(regression).attention);
  EXPECT_TRUE(RequiredTrace(compensation).attention);
}

}  // namespace
}  // namespace sinkd
