// JSON: what is taken, where a fault is, and that neither size nor shape makes it slow or large.
// Lines and columns are those of Python's json module, which JSON's author documents alike.
#include "server/base/json.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sinkd {
namespace {

using Json = nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string ErrorOf(std::string_view text, const JsonLimits& limits = {}) {
  const absl::StatusOr<Json> json = ParseJson(text, limits);
  EXPECT_FALSE(json.ok()) << text;
  return std::string(json.status().message());
}

TEST(ParseJson, BuildsTheTreeOfTheLibrary) {
  for (const std::string text :
       {R"({"a":[1,-2,3.5,18446744073709551615],"b":{"c":{},"d":[]},"e":"x\u00e9\n","f":null})",
        R"([[],[[]],{"a":[{"b":true}]}])", R"("text")", "-1e-7", "{}", "[]", "\xEF\xBB\xBF[1]"}) {
    const absl::StatusOr<Json> json = ParseJson(text);
    ASSERT_TRUE(json.ok()) << json.status();
    EXPECT_EQ(*json, Json::parse(text)) << text;
  }
}

TEST(ParseJson, OfAKeyThatComesTwiceTheLastCountsUnlessNoneMay) {
  constexpr char kText[] = R"({"a":[1],"b":{"c":1,"c":{"d":2}}})";
  EXPECT_EQ((*ParseJson(kText))["b"]["c"]["d"], 2);
  EXPECT_EQ(ErrorOf(kText, {.unique_keys = true}), "names c twice");
}

TEST(ParseJson, SaysWhereAFaultIs) {
  EXPECT_THAT(ErrorOf("{\n  \"a\": 1,\n  \"b\" 2\n}"), HasSubstr("line 3, column 7"));
  EXPECT_THAT(ErrorOf("[1,]"), HasSubstr("line 1, column 4"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("is not valid JSON at line 1, column 1"));
  EXPECT_THAT(ErrorOf("{\"a\":\n"), HasSubstr("line 2, column 1"));
  EXPECT_THAT(ErrorOf("{} {}"), HasSubstr("line 1, column 4"));
  EXPECT_THAT(ErrorOf(std::string("[1,\n\0]", 6)), HasSubstr("line 2, column 1: a zero byte"));
  EXPECT_THAT(ErrorOf("[1e999]"), HasSubstr("number overflow"));
}

TEST(ParseJson, NamesTheNumbersThatJsonLacks) {
  for (const std::string name : {"NaN", "Infinity", "-Infinity", "nan", "inf", "-inf"}) {
    const std::string error = ErrorOf("{\n\"eps\": " + name + "}");
    EXPECT_THAT(error, HasSubstr("line 2, column 8: JSON has no NaN")) << name;
  }
  EXPECT_THAT(ErrorOf("[nul]"), Not(HasSubstr("JSON has no")));
  EXPECT_THAT(ErrorOf("[\"NaN\" 1]"), Not(HasSubstr("JSON has no")));
}

TEST(ParseJson, KeepsToItsLimits) {
  EXPECT_TRUE(ParseJson("[[1]]", {.depth = 2}).ok());
  EXPECT_EQ(ErrorOf("[[[1]]]", {.depth = 2}), "is nested deeper than 2 levels");
  EXPECT_THAT(ErrorOf(std::string(1 << 20, '[')), HasSubstr("nested deeper"));
  EXPECT_TRUE(ParseJson("[1,{}]", {.values = 3}).ok());
  EXPECT_EQ(ErrorOf("[1,{},2]", {.values = 3}), "holds over 3 values");
}

// With nlohmann's callback each end of an object looks through all that came before it in its
// parent: 4 * 10^10 steps here.
TEST(ParseJson, ManySiblingsTakeNoMoreThanTheirNumber) {
  std::string text = "[{}";
  for (int i = 0; i < 300'000; ++i) text += ",{}";
  const absl::StatusOr<Json> json = ParseJson(text + "]");
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_EQ(json->size(), 300'001u);
}

TEST(ParseJson, CanBeCancelled) {
  std::stop_source stop;
  stop.request_stop();
  std::string text = "[0";
  for (int i = 0; i < 10'000; ++i) text += ",0";
  EXPECT_TRUE(absl::IsCancelled(ParseJson(text + "]", {}, stop.get_token()).status()));
}

TEST(ReadJsonMembers, GivesEachMemberOnceItIsRead) {
  std::vector<std::string> seen;
  const auto note = [&seen](const std::string& key, const Json& value) {
    seen.push_back(key + "=" + value.dump());
    return absl::OkStatus();
  };
  ASSERT_TRUE(
      ReadJsonMembers(R"({"b":{"x":[1,{"y":2}]},"a":7,"b":[],"c":"t"})", {}, {}, note).ok());
  EXPECT_THAT(seen, ElementsAre(R"(b={"x":[1,{"y":2}]})", "a=7", "b=[]", R"(c="t")"));

  // The limit is of one member.
  EXPECT_TRUE(ReadJsonMembers(R"({"a":[1,2],"b":[1,2]})", {.values = 3}, {}, note).ok());
  EXPECT_FALSE(ReadJsonMembers(R"({"a":[1,2,3]})", {.values = 3}, {}, note).ok());
  for (const char* text : {"[1,2]", "1", "\"a\"", "null"}) {
    EXPECT_EQ(ReadJsonMembers(text, {}, {}, note).message(), "does not hold a JSON object");
  }
}

TEST(ReadJsonMembers, EndsWithTheErrorOfItsReader) {
  int calls = 0;
  const auto fail = [&calls](const std::string&, const Json&) {
    ++calls;
    return absl::NotFoundError("no");
  };
  EXPECT_TRUE(absl::IsNotFound(ReadJsonMembers(R"({"a":1,"b":2})", {}, {}, fail)));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace sinkd
