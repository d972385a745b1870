#include "server/access/token_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "server/base/str_cat.h"

namespace sinkd {
namespace {

using ::testing::HasSubstr;
using ::testing::IsNull;
using ::testing::Not;
using ::testing::NotNull;

// `printf test | sha256sum` and `printf other | sha256sum`.
constexpr char kDigest[] = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
constexpr char kOther[] = "d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa";

TEST(TokenFile, ReadsNamesRolesAndSettingsPastCommentsAndEmptyLines) {
  const auto entries = ParseTokenFile(
      StrCat("# of the lab\n\n  ci analyse ", kDigest,
             " streams=4\trequests-per-minute=60 tokens-per-minute=100000 weight=2.5 # nightly\r\n"
             "grafana read ",
             kOther),
      "tokens");
  ASSERT_TRUE(entries.ok()) << entries.status();
  ASSERT_EQ(entries->size(), 2u);
  const TokenEntry& ci = (*entries)[0];
  EXPECT_EQ(ci.name, "ci");
  EXPECT_EQ(ci.role, Role::kAnalyse);
  EXPECT_EQ(ci.digest, kDigest);
  EXPECT_EQ(ci.quotas, (Quotas{60, 100000, 4}));
  EXPECT_EQ(ci.weight, 2.5);
  EXPECT_EQ((*entries)[1].role, Role::kRead);
  EXPECT_EQ((*entries)[1].quotas, Quotas());
  EXPECT_EQ((*entries)[1].weight, 1);
}

TEST(TokenFile, FindsATokenByItsDigest) {
  const auto entries =
      ParseTokenFile(StrCat("a read ", kOther, "\nb admin ", kDigest, "\n"), "tokens");
  ASSERT_TRUE(entries.ok()) << entries.status();
  ASSERT_THAT(FindToken(*entries, "test"), NotNull());
  EXPECT_EQ(FindToken(*entries, "test")->name, "b");
  EXPECT_THAT(FindToken(*entries, "tesu"), IsNull());
  EXPECT_THAT(FindToken(*entries, ""), IsNull());
  EXPECT_THAT(FindToken(*entries, kDigest), IsNull());  // which is no secret
}

TEST(TokenFile, LetsANameHaveTwoTokensThatAgree) {
  EXPECT_TRUE(
      ParseTokenFile(StrCat("ci read ", kDigest, "\nci read ", kOther, "\n"), "tokens").ok());
}

struct BadFile {
  const char* name;
  std::string text;
  std::string told;
};

class BadTokenFile : public ::testing::TestWithParam<BadFile> {};

TEST_P(BadTokenFile, IsRefusedWithItsLineAndWithoutWhatMayBeASecret) {
  const auto entries = ParseTokenFile(GetParam().text, "/etc/tokens");
  ASSERT_FALSE(entries.ok());
  EXPECT_EQ(entries.status().code(), absl::StatusCode::kInvalidArgument);
  const std::string message(entries.status().message());
  EXPECT_THAT(message, HasSubstr(GetParam().told));
  EXPECT_THAT(entries.status().ToString(), Not(HasSubstr("hunter2")));
  EXPECT_THAT(entries.status().ToString(), Not(HasSubstr(kDigest)));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadTokenFile,
    ::testing::Values(
        BadFile{"NoName", "hunter2!", "/etc/tokens:1: a name is"},
        BadFile{"NoRole", "\nci", "/etc/tokens:2: the second word is the role"},
        BadFile{"OtherRole", "ci root hunter2", ":1: the second word is the role"},
        BadFile{"NoDigest", "# c\n\nci read", ":3: the third word"},
        BadFile{"SecretForDigest", "ci read hunter2", ":1: the third word"},
        BadFile{"ShortDigest", StrCat("ci read ", std::string(63, 'a')), "64 lower-case"},
        BadFile{"UpperCase", StrCat("ci read ", std::string(64, 'A')), "64 lower-case"},
        BadFile{"NoNumber", StrCat("ci read ", kDigest, " streams=many"), "streams is a whole"},
        BadFile{"Zero", StrCat("ci read ", kDigest, " streams=0"), "from 1"},
        BadFile{"Twice", StrCat("ci read ", kDigest, " streams=1 streams=2"), "given twice"},
        BadFile{"NoSetting", StrCat("ci read ", kDigest, " hunter2"), "settings are"},
        BadFile{"Weight", StrCat("ci read ", kDigest, " weight=nan"), "weight is a number"},
        BadFile{"SameToken", StrCat("a read ", kDigest, "\nb read ", kDigest), ":2: this token"},
        BadFile{"TwoRoles", StrCat("a read ", kDigest, "\na admin ", kOther), ":2: a has a line"},
        BadFile{"TwoQuotas", StrCat("a read ", kDigest, "\na read ", kOther, " streams=1"),
                ":2: a has a line"}),
    [](const auto& case_of) { return std::string(case_of.param.name); });

}  // namespace
}  // namespace sinkd
