#include "server/base/trace_context.h"

#include <gtest/gtest.h>

namespace sinkd {
namespace {

// The examples of the specification, sections 3.2.2 to 3.2.4 and 4.
constexpr char kTraceId[] = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr char kParentId[] = "00f067aa0ba902b7";
const TraceContext kExample{kTraceId, kParentId};

TEST(Traceparent, TheExamplesOfTheSpecificationAreRead) {
  EXPECT_EQ(ParseTraceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), kExample);
  EXPECT_EQ(ParseTraceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"), kExample);
  EXPECT_EQ(ParseTraceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
            (TraceContext{"0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"}));
}

TEST(Traceparent, FlagsThatNobodyKnowsYetAreNoFault) {
  EXPECT_EQ(ParseTraceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff"), kExample);
}

TEST(Traceparent, ALaterVersionIsReadAsFarAsThisOneGoes) {
  const std::string known = "-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  EXPECT_EQ(ParseTraceparent("cc" + known), kExample);
  EXPECT_EQ(ParseTraceparent("01" + known + "-what-the-future-will-be-like"), kExample);
  EXPECT_EQ(ParseTraceparent("01" + known + "-"), kExample);
  EXPECT_EQ(ParseTraceparent("01" + known + ".what-the-future-will-be-like"), std::nullopt);
  EXPECT_EQ(ParseTraceparent("01" + known.substr(0, known.size() - 1)), std::nullopt);
}

struct Ignored {
  const char* name;
  const char* value;
};

class TraceparentIgnores : public ::testing::TestWithParam<Ignored> {};

TEST_P(TraceparentIgnores, It) {
  EXPECT_EQ(ParseTraceparent(GetParam().value), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(
    Forms, TraceparentIgnores,
    ::testing::Values(
        Ignored{"Nothing", ""}, Ignored{"OnlyAVersion", "00"},
        Ignored{"VersionFf", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"},
        Ignored{"VersionThatIsNotHex", "0x-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"},
        Ignored{"TraceIdOfZeros", "00-00000000000000000000000000000000-00f067aa0ba902b7-01"},
        Ignored{"ParentIdOfZeros", "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01"},
        Ignored{"UpperCase", "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01"},
        Ignored{"TraceIdThatIsNotHex", "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01"},
        Ignored{"ParentIdThatIsNotHex", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b.-01"},
        Ignored{"FlagsThatAreNotHex", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x"},
        Ignored{"AShortTraceId", "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-011"},
        Ignored{"OneByteTooFew", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0"},
        Ignored{"MoreThanVersion00Has", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-"},
        Ignored{"UnderscoresForDashes", "00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01"},
        Ignored{"SpaceAround", " 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}),
    [](const auto& form) { return form.param.name; });

}  // namespace
}  // namespace sinkd
