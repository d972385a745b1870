#include "server/config/config_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace sinkd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

TEST(ConfigFile, ReadsKeysWithWordsStringsAndArrays) {
  const absl::StatusOr<ConfigFile> file = ParseConfigFile(R"(# settings
threads = 2   # two
model-root = "/models/with # and \"quotes\""
device='cuda:0'
insecure-listen = true
load = [ "a", 'b',   # first two
  "c",
]
empty = []
date = 2025-01-01
many = 1_000_000
)",
                                                          "f.toml");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_THAT(
      *file, UnorderedElementsAre(Pair("threads", ElementsAre("2")),
                                  Pair("model-root", ElementsAre("/models/with # and \"quotes\"")),
                                  Pair("device", ElementsAre("cuda:0")),
                                  Pair("insecure-listen", ElementsAre("true")),
                                  Pair("load", ElementsAre("a", "b", "c")),
                                  Pair("empty", IsEmpty()), Pair("date", ElementsAre("2025-01-01")),
                                  Pair("many", ElementsAre("1000000"))));
}

TEST(ConfigFile, TakesCarriageReturnsAndNoLastNewLine) {
  const absl::StatusOr<ConfigFile> file = ParseConfigFile("a = 1\r\nb = \"x\"", "f");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_THAT(*file,
              UnorderedElementsAre(Pair("a", ElementsAre("1")), Pair("b", ElementsAre("x"))));
}

TEST(ConfigFile, AnEmptyFileSetsNothing) {
  EXPECT_THAT(*ParseConfigFile("", "f"), IsEmpty());
  EXPECT_THAT(*ParseConfigFile("\n  # only a comment", "f"), IsEmpty());
}

struct BadFile {
  const char* name;
  const char* text;
  const char* where;
  const char* what;
};

class BadConfigFile : public testing::TestWithParam<BadFile> {};

TEST_P(BadConfigFile, IsRefusedNamingTheLine) {
  const absl::Status error = ParseConfigFile(GetParam().text, "f.toml").status();
  EXPECT_TRUE(absl::IsInvalidArgument(error)) << error;
  EXPECT_THAT(std::string(error.message()), HasSubstr(GetParam().where));
  EXPECT_THAT(std::string(error.message()), HasSubstr(GetParam().what));
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadConfigFile,
    testing::Values(BadFile{"Section", "a = 1\n[server]\n", "f.toml, line 2", "sections"},
                    BadFile{"Dots", "\na.b = 1\n", "line 2", "sections"},
                    BadFile{"NoEquals", "a = 1\n\nthreads 2\n", "line 3", "(got threads 2)"},
                    BadFile{"NoKey", "= 2\n", "line 1", "(got = 2); write key = value"},
                    BadFile{"NoValue", "a =\nb = 1", "line 1", "expected value"},
                    BadFile{"NoValueAtEnd", "a =", "line 1", "end-of-file"},
                    BadFile{"NoQuotes", "b = 1\na = 5s", "line 2", "text between quotes"},
                    BadFile{"OpenString", "a = \"x\nb = 1", "line 1", "(got a = \"x)"},
                    BadFile{"OpenLiteral", "a = 'x", "line 1", "string"},
                    BadFile{"OpenArray", "a = [1,\n2", "line 2", "array"},
                    BadFile{"NoComma", "a = [1 2]", "line 1", "expected comma"},
                    BadFile{"Nested", "a = [[1]]", "line 1", "single values"},
                    BadFile{"Escape", "a = \"C:\\models\"", "line 1", "escape sequence"},
                    BadFile{"Rest", "a = 1 2", "line 1", "saw '2'"},
                    BadFile{"Twice", "a = 1\na = 2", "line 2", "cannot redefine"},
                    BadFile{"Bytes", "\xff\xfe", "line 1", "utf-8"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(ConfigFile, ReadsBackWhatItQuotes) {
  for (const std::string text :
       {"", "plain", "a\"b\\c", "line\nbreak\ttab\r", "# = [ ] '", "\u00e9"}) {
    const absl::StatusOr<ConfigFile> file = ParseConfigFile("key = " + QuoteToml(text), "f");
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_THAT(file->at("key"), ElementsAre(text));
  }
}

TEST(ConfigFile, AFileThatCannotBeReadIsNamed) {
  for (const char* const path : {"/no/such/file.toml", "/"}) {
    const absl::Status error = ReadConfigFile(path).status();
    EXPECT_TRUE(absl::IsNotFound(error)) << error;
    EXPECT_THAT(std::string(error.message()), HasSubstr(path));
  }
}

}  // namespace
}  // namespace sinkd
