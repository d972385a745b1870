// `sinkctl families`.
#include <algorithm>

#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>

#include "tests/client/sinkctl_fixture.h"

namespace sinkd::testing {
namespace {

using google::protobuf::util::JsonStringToMessage;
using google::protobuf::util::MessageDifferencer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// The longest line of `text`, in bytes; all of it is ASCII.
size_t LongestLine(const std::string& text) {
  size_t longest = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    longest = std::max(longest, end - begin);
    begin = end + 1;
  }
  return longest;
}

TEST_F(SinkctlTest, ListsFamiliesInATableThatFitsItsWidth) {
  const ProcessResult result = Run({"families"});
  EXPECT_EQ(result.exit_code, 0);
  for (const char* part : {"llama", "CodeLlama", "scalings", "secondary", "4.57.1", "3.2e-06"}) {
    EXPECT_THAT(result.out, HasSubstr(part));
  }
  EXPECT_THAT(result.out, HasSubstr("compared with"));
  EXPECT_LE(LongestLine(result.out), 100u);
  EXPECT_EQ(Run({"families", "--names"}).out, "llama\ntwo\n");
}

TEST_F(SinkctlTest, NamesAReferenceThatAllFamiliesShareOnce) {
  server_.families.mutable_families(1)->set_reference("transformers 4.57.1");
  const std::string out = Run({"families"}).out;
  EXPECT_THAT(out, HasSubstr("largest difference to transformers 4.57.1 over all"));
  EXPECT_THAT(out, Not(HasSubstr("compared with")));
}

TEST_F(SinkctlTest, ShowsAFamilyBySiteWithItsCheckpoints) {
  const ProcessResult result = Run({"families", "llama"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("  resid_post  3.2e-06            0.75\n"));
  EXPECT_THAT(result.out, HasSubstr("  alpha       1.5e-07               -\n"));
  EXPECT_THAT(result.out,
              HasSubstr("meta-llama/Llama-3.2-1B  1,235,814,400             2.3 GiB\n"));
  const std::string two = Run({"families", "two"}).out;
  EXPECT_THAT(two, HasSubstr("finding        -\n"));
  EXPECT_THAT(two, Not(HasSubstr("float32")));
}

TEST_F(SinkctlTest, RefusesAFamilyThatIsNone) {
  const ProcessResult result = Run({"families", "lama"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("no family \"lama\"; did you mean \"llama\"?"));
  EXPECT_THAT(result.out, IsEmpty());
}

TEST_F(SinkctlTest, WritesFamiliesThatReadBackAsTheMessages) {
  sinks::v1::ListFamiliesResponse all;
  ASSERT_TRUE(JsonStringToMessage(Run({"families", "-o", "json"}).out, &all).ok());
  EXPECT_TRUE(MessageDifferencer::Equals(all, MakeFamilies()));
  sinks::v1::Family one;
  ASSERT_TRUE(JsonStringToMessage(Run({"families", "two", "-o", "json"}).out, &one).ok());
  EXPECT_TRUE(MessageDifferencer::Equals(one, MakeFamilies().families(1)));
  EXPECT_THAT(Run({"families", "-o", "jsonl"}).out,
              HasSubstr("}\n{\"type\":\"family\",\"family\":"));
  const auto rows = ParseCsv(Run({"families", "-o", "csv"}).out);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1][5], "3.2e-06");
  EXPECT_EQ(rows[1][6], "resid_post");
  EXPECT_THAT(rows[2], ElementsAre("two", "Two, a \"quoted\" name", "", "", "", "", ""));
}

}  // namespace
}  // namespace sinkd::testing
