#include "server/base/utf8.h"

#include <string>

#include <gtest/gtest.h>

namespace sinkd {
namespace {

TEST(FirstInvalidUtf8, FindsNothingInValidText) {
  EXPECT_EQ(FirstInvalidUtf8(""), std::nullopt);
  EXPECT_EQ(FirstInvalidUtf8(std::string(1, '\0')), std::nullopt);
  // The first and last code points of each length (RFC 3629).
  EXPECT_EQ(FirstInvalidUtf8("\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF\xF0\x90\x80\x80"
                             "\xF4\x8F\xBF\xBF"),
            std::nullopt);
}

struct Invalid {
  const char* name;
  std::string text;
  size_t offset;
};

class InvalidText : public ::testing::TestWithParam<Invalid> {};

TEST_P(InvalidText, IsFoundAtItsOffset) {
  EXPECT_EQ(FirstInvalidUtf8(GetParam().text), GetParam().offset);
}

INSTANTIATE_TEST_SUITE_P(Table, InvalidText,
                         ::testing::Values(Invalid{"LoneContinuation", "ab\x80", 2},
                                           Invalid{"CutShort", "a\xE2\x82", 1},
                                           Invalid{"Overlong", "\xC0\x80", 0},
                                           Invalid{"OverlongOfThree", "\xE0\x9F\xBF", 0},
                                           Invalid{"Surrogate", "a\xED\xA0\x80", 1},
                                           Invalid{"PastTheLastCodePoint", "\xF4\x90\x80\x80", 0},
                                           Invalid{"ByteOfNoSequence", "\xFF", 0},
                                           Invalid{"NoContinuation", "\xC3(", 0}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(RepairUtf8, ReplacesBytesOfNoCharacterAndKeepsTheRest) {
  EXPECT_EQ(RepairUtf8("\u00E9\xFFx\xE2\x82"), "\u00E9\uFFFDx\uFFFD\uFFFD");
  EXPECT_EQ(RepairUtf8(std::string("a\0b", 3)), std::string("a\0b", 3));
}

}  // namespace
}  // namespace sinkd
