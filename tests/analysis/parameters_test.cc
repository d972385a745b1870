#include "server/analysis/parameters.h"

#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/base/status.h"
#include "tests/analysis/spec_text.h"

namespace sinkd {
namespace {

using testing::HasSubstr;

constexpr char kEverything[] =
    "scores {} sink_rate {} levels {} regression {} compensation {} portrait {} heads {} ";

TEST(Parameters, AreValidByDefault) {
  EXPECT_TRUE(CheckAnalyses(SpecFrom("")).ok());
  EXPECT_TRUE(CheckAnalyses(SpecFrom(kEverything)).ok());
}

TEST(Parameters, HaveTheDefaultsThatTheCommentsOfTheProtocolPromise) {
  const v1::AnalysisSpec spec = SpecFrom(kEverything);
  EXPECT_EQ(spec.detection().ShortDebugString(),
            "cosine_threshold: 0.9 min_norm_ratio: 0 kind_rule: KIND_RULE_WINDOW "
            "last_state: LAST_STATE_NORMED");
  EXPECT_EQ(spec.scores().ShortDebugString(),
            "exclude_self: false divisor: QUERY_DIVISOR_FROM_POSITION curves: false "
            "all_positions: false");
  EXPECT_EQ(spec.sink_rate().ShortDebugString(), "epsilon: 0.3 positions: 64 first_tokens: 0");
  EXPECT_EQ(spec.levels().ShortDebugString(),
            "min_share: 0.02 top_tokens: 10 include_primary_position: false");
  EXPECT_EQ(spec.regression().ShortDebugString(), "include_primary: false points: false");
  EXPECT_EQ(spec.compensation().ShortDebugString(), "bootstrap_samples: 1000 seed: 0");
  EXPECT_EQ(spec.portrait().ShortDebugString(), "samples: 1");
  EXPECT_EQ(spec.heads().ShortDebugString(), "dormant_mass: 0.9 dormant_value_share: 0.5");
}

TEST(Parameters, PresetsBecomeTheValuesThatTheyStandFor) {
  const auto detection = [](const std::string& text) {
    return SpecFrom("detection { " + text + " }").detection().ShortDebugString();
  };
  const std::string rest = " kind_rule: KIND_RULE_WINDOW last_state: LAST_STATE_NORMED";
  EXPECT_EQ(detection("preset: DETECTION_PRESET_PAPER_TEXT"),
            "cosine_threshold: 0.95 min_norm_ratio: 3" + rest);
  EXPECT_EQ(detection("preset: DETECTION_PRESET_PAPER_TEXT min_norm_ratio: 0"),
            "cosine_threshold: 0.95 min_norm_ratio: 0" + rest);
  EXPECT_EQ(detection("preset: DETECTION_PRESET_PUBLISHED_CODE"), detection(""));
  EXPECT_EQ(
      SpecFrom("sink_rate { preset: SINK_RATE_PRESET_GU2024 }").sink_rate().ShortDebugString(),
      "epsilon: 0.3 positions: 64 first_tokens: 64");
}

struct BadValue {
  const char* spec;
  const char* field;
  const char* limit;
  const char* value;
};
void PrintTo(const BadValue& bad, std::ostream* out) {
  *out << bad.spec;
}

class BadParameter : public testing::TestWithParam<BadValue> {};

TEST_P(BadParameter, IsNamedWithItsValueAndLimit) {
  const absl::Status status = CheckAnalyses(SpecFrom(GetParam().spec));
  ASSERT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  const std::string message(status.message());
  EXPECT_THAT(message, HasSubstr(GetParam().field));
  EXPECT_THAT(message, HasSubstr(GetParam().limit));
  EXPECT_THAT(message, HasSubstr(std::string("got ") + GetParam().value));
  EXPECT_EQ(GetErrorDetail(status)->subject, GetParam().field);
}

#define BAD(part, field, text, limit, value)                                  \
  BadValue {                                                                  \
    #part " { " #field ": " text " }", "spec." #part "." #field, limit, value \
  }

INSTANTIATE_TEST_SUITE_P(
    Parameters, BadParameter,
    testing::Values(BAD(detection, cosine_threshold, "0", "over 0 and under 1", "0"),
                    BAD(detection, cosine_threshold, "1", "over 0 and under 1", "1"),
                    BAD(detection, cosine_threshold, "-0.5", "over 0 and under 1", "-0.5"),
                    BAD(detection, cosine_threshold, "nan", "over 0 and under 1", "nan"),
                    BAD(detection, min_norm_ratio, "-1", "from 0 to 1e+06", "-1"),
                    BAD(detection, min_norm_ratio, "inf", "from 0 to 1e+06", "inf"),
                    BAD(detection, preset, "9", "from 1 to 2", "9"),
                    BAD(detection, kind_rule, "7", "from 1 to 2", "7"),
                    BAD(detection, last_state, "-7", "from 1 to 2", "-7"),
                    BAD(scores, divisor, "7", "from 1 to 2", "7"),
                    BAD(sink_rate, preset, "2", "from 1 to 1", "2"),
                    BAD(sink_rate, epsilon, "1", "at least 0 and under 1", "1"),
                    BAD(sink_rate, epsilon, "-0.1", "at least 0 and under 1", "-0.1"),
                    BAD(sink_rate, epsilon, "nan", "at least 0 and under 1", "nan"),
                    BAD(sink_rate, positions, "0", "from 1 to 4096", "0"),
                    BAD(sink_rate, positions, "2147483647", "from 1 to 4096", "2147483647"),
                    BAD(sink_rate, first_tokens, "-1", "from 0 to 4096", "-1"),
                    BAD(sink_rate, first_tokens, "5000", "from 0 to 4096", "5000"),
                    BAD(levels, min_share, "1.5", "from 0 to 1", "1.5"),
                    BAD(levels, min_share, "nan", "from 0 to 1", "nan"),
                    BAD(levels, top_tokens, "-1", "from 0 to 1000", "-1"),
                    BAD(levels, top_tokens, "1001", "from 0 to 1000", "1001"),
                    BAD(compensation, bootstrap_samples, "-1", "from 0 to 10000", "-1"),
                    BAD(compensation, bootstrap_samples, "10001", "from 0 to 10000", "10001"),
                    BAD(heads, dormant_mass, "1", "at least 0 and under 1", "1"),
                    BAD(heads, dormant_mass, "nan", "at least 0 and under 1", "nan"),
                    BAD(portrait, samples, "0", "from 1 to 100", "0"),
                    BAD(portrait, samples, "101", "from 1 to 100", "101")));

TEST(RequiredTrace, LeavesAttentionOutWhenOnlyStatesAreNeeded) {
  EXPECT_EQ(RequiredTrace(SpecFrom("levels {} detection { last_state: LAST_STATE_RAW }")),
            (TraceRequest{LastState::kRaw, false, 0}));
}

TEST(RequiredTrace, AsksForAttentionForEveryAnalysisThatScores) {
  EXPECT_TRUE(RequiredTrace(SpecFrom("scores {}")).attention);
  EXPECT_EQ(RequiredTrace(SpecFrom("sink_rate { first_tokens: 64 }")),
            (TraceRequest{LastState::kNormed, true, 64}));
  EXPECT_EQ(RequiredTrace(SpecFrom("heads {}")), (TraceRequest{LastState::kNormed, true, 0, true}));
  EXPECT_TRUE(RequiredTrace(SpecFrom("regression {}")).attention);
  EXPECT_TRUE(RequiredTrace(SpecFrom("compensation {}")).attention);
}

}  // namespace
}  // namespace sinkd
