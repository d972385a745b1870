#include "server/access/access_control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "server/access/sha256.h"
#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

std::string ReasonOf(const absl::Status& status) {
  return GetErrorDetail(status).value_or(ErrorDetail{}).reason;
}

class AccessControlTest : public ::testing::Test {
 protected:
  AccessControlTest()
      : file_(std::filesystem::path(::testing::TempDir()) /
              StrCat("tokens-", getpid(), "-",
                     ::testing::UnitTest::GetInstance()->current_test_info()->name())) {}
  ~AccessControlTest() override { std::filesystem::remove(file_); }

  static std::string Line(std::string_view name, std::string_view role, std::string_view token,
                          std::string_view settings = "") {
    return StrCat(name, " ", role, " ", Sha256(token), " ", settings, "\n");
  }

  void Write(const std::string& text) const { std::ofstream(file_) << text; }

  std::unique_ptr<AccessControl> Open(const std::string& text) {
    Write(text);
    auto access = AccessControl::Open({.token_file = file_, .now = [this] { return now_; }});
    EXPECT_TRUE(access.ok()) << access.status();
    return *std::move(access);
  }

  static absl::StatusOr<std::shared_ptr<const Principal>> Ask(AccessControl& access,
                                                              std::string_view header,
                                                              Role least = Role::kRead) {
    return access.Admit({.authorization = {header}, .peer_host = "192.0.2.1"}, least);
  }

  const std::filesystem::path file_;
  RateBucket::TimePoint now_{std::chrono::hours(1)};
};

TEST_F(AccessControlTest, LetsATokenInAsTheNameOfItsLine) {
  const auto access = Open(Line("ci", "analyse", "secret", "weight=3"));
  const auto principal = Ask(*access, "Bearer secret", Role::kAnalyse);
  ASSERT_TRUE(principal.ok()) << principal.status();
  EXPECT_EQ((*principal)->name(), "ci");
  EXPECT_EQ((*principal)->role(), Role::kAnalyse);
  EXPECT_EQ((*principal)->weight(), 3);
}

TEST_F(AccessControlTest, TakesTheSchemeInAnyCase) {
  const auto access = Open(Line("ci", "read", "secret"));
  for (const char* header : {"bearer secret", "BEARER secret", "Bearer   secret "}) {
    EXPECT_TRUE(Ask(*access, header).ok()) << header;
  }
}

TEST_F(AccessControlTest, RefusesWhoShowsNoTokenOrAnUnknownOneInTheSameWords) {
  const auto access = Open(Line("ci", "admin", "secret"));
  const auto none = access->Admit({.peer_host = "192.0.2.1"}, Role::kRead);
  EXPECT_EQ(none.status().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(ReasonOf(none.status()), "TOKEN_MISSING");
  const absl::Status wrong = Ask(*access, "Bearer hunter2").status();
  EXPECT_EQ(wrong.code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(ReasonOf(wrong), "TOKEN_UNKNOWN");
  EXPECT_THAT(wrong.ToString(), Not(HasSubstr("hunter2")));
  const std::string digest = StrCat("Bearer ", Sha256("secret"));
  for (const std::string& header :
       {std::string("Basic secret"), std::string("Bearersecret"), std::string("Bearer"),
        std::string("secret"), std::string(), std::string("Bearer ci"), digest,
        StrCat("Bearer ", std::string(100000, 'a'))}) {
    EXPECT_EQ(Ask(*access, header).status(), wrong) << header.substr(0, 80);
  }
}

TEST_F(AccessControlTest, RefusesTwoHeadersEvenWhenBothHoldGoodTokens) {
  const auto access = Open(Line("ci", "admin", "secret"));
  const auto both =
      access->Admit({.authorization = {"Bearer secret", "Bearer secret"}}, Role::kRead);
  EXPECT_EQ(both.status().code(), absl::StatusCode::kUnauthenticated);
}

TEST_F(AccessControlTest, GivesEachRoleWhatThoseBelowItMay) {
  const auto access = Open(StrCat(Line("r", "read", "token-r"), Line("a", "analyse", "token-a"),
                                  Line("x", "admin", "token-x")));
  const std::array<std::string, 3> headers = {"Bearer token-r", "Bearer token-a", "Bearer token-x"};
  for (size_t held = 0; held < 3; ++held) {
    for (size_t least = 0; least < 3; ++least) {
      const absl::Status status = Ask(*access, headers[held], static_cast<Role>(least)).status();
      EXPECT_EQ(status.ok(), held >= least) << held << " " << least;
      if (held < least) {
        EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
        EXPECT_EQ(ReasonOf(status), "ROLE_TOO_LOW");
      }
    }
  }
}

TEST_F(AccessControlTest, CountsRequestsByNameOverAllItsTokens) {
  const auto access =
      Open(StrCat(Line("ci", "read", "one", "requests-per-minute=2"),
                  Line("ci", "read", "two", "requests-per-minute=2"), Line("me", "read", "mine")));
  EXPECT_TRUE(Ask(*access, "Bearer one").ok());
  EXPECT_TRUE(Ask(*access, "Bearer two").ok());
  const absl::Status third = Ask(*access, "Bearer one").status();
  EXPECT_EQ(third.code(), absl::StatusCode::kResourceExhausted);
  ASSERT_TRUE(GetErrorDetail(third));
  EXPECT_EQ(GetErrorDetail(third)->subject, "requests-per-minute");
  EXPECT_EQ(GetErrorDetail(third)->retry_after, seconds(30));
  EXPECT_TRUE(Ask(*access, "Bearer mine").ok());
  now_ += seconds(30);
  EXPECT_TRUE(Ask(*access, "Bearer two").ok());
}

TEST_F(AccessControlTest, CountsTokensOfSamplesAndLetsALargeSampleOwe) {
  const auto access = Open(Line("ci", "read", "one", "tokens-per-minute=60"));
  const auto principal = Ask(*access, "Bearer one");
  ASSERT_TRUE(principal.ok());
  EXPECT_TRUE((*principal)->TakeTokens(90).ok());
  const absl::Status refused = (*principal)->TakeTokens(1);
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(GetErrorDetail(refused)->retry_after, seconds(31));
  now_ += seconds(31);
  EXPECT_TRUE((*principal)->TakeTokens(1).ok());
}

TEST_F(AccessControlTest, BoundsStreamsUntilOneEnds) {
  const auto access = Open(Line("ci", "read", "one", "streams=2"));
  const auto principal = Ask(*access, "Bearer one");
  ASSERT_TRUE(principal.ok());
  auto first = (*principal)->EnterStream();
  const auto second = (*principal)->EnterStream();
  EXPECT_EQ((*principal)->EnterStream().status().code(), absl::StatusCode::kResourceExhausted);
  first->reset();
  EXPECT_TRUE((*principal)->EnterStream().ok());
}

TEST_F(AccessControlTest, KeepsWhatANameHasUsedWhenItsFileIsReadAgain) {
  const auto access = Open(Line("ci", "read", "one", "requests-per-minute=1"));
  EXPECT_TRUE(Ask(*access, "Bearer one").ok());
  Write(Line("ci", "read", "two", "requests-per-minute=1"));
  EXPECT_EQ(*access->Reload(), true);
  EXPECT_EQ(Ask(*access, "Bearer two").status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Ask(*access, "Bearer one").status().code(), absl::StatusCode::kUnauthenticated);
}

TEST_F(AccessControlTest, KeepsTheTokensWhenTheNewFileIsBrokenEmptyOrGone) {
  const auto access = Open(Line("ci", "read", "secret"));
  EXPECT_EQ(*access->Reload(), false);
  for (const char* text : {"ci read", "", "# nobody\n"}) {
    Write(text);
    EXPECT_EQ(access->Reload().status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_TRUE(Ask(*access, "Bearer secret").ok()) << text;
  }
  std::filesystem::remove(file_);
  EXPECT_EQ(access->Reload().status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(Ask(*access, "Bearer secret").ok());
  EXPECT_EQ(access->tokens(), 1);
}

TEST_F(AccessControlTest, DoesNotOpenWithoutAUsableFile) {
  EXPECT_FALSE(AccessControl::Open({.token_file = file_}).ok());
  EXPECT_FALSE(AccessControl::Open({.token_file = "/"}).ok());
  EXPECT_FALSE(AccessControl::Open({.token_file = "/dev/zero"}).ok());
}

TEST_F(AccessControlTest, LetsEveryoneInByHostWhereNoTokensAreAskedFor) {
  const auto access = AccessControl::Open({});
  ASSERT_TRUE(access.ok());
  const auto principal = (*access)->Admit({.peer_host = "192.0.2.1"}, Role::kAdmin);
  ASSERT_TRUE(principal.ok());
  EXPECT_EQ((*principal)->name(), "192.0.2.1");
}

TEST_F(AccessControlTest, GoesByTheCertificateWhereThoseAreAskedFor) {
  const auto access = AccessControl::Open({.asks_certificates = true});
  ASSERT_TRUE(access.ok());
  const auto principal = (*access)->Admit({.certificate_name = "ci.lab.example"}, Role::kAdmin);
  ASSERT_TRUE(principal.ok());
  EXPECT_EQ((*principal)->name(), "ci.lab.example");
  EXPECT_EQ(ReasonOf((*access)->Admit({.peer_host = "192.0.2.1"}, Role::kRead).status()),
            "CERTIFICATE_MISSING");
}

TEST_F(AccessControlTest, RefusesRandomHeaders) {
  const auto access = Open(Line("ci", "admin", "secret"));
  std::mt19937 random(5);  // fixed, so that a failure comes again
  for (int i = 0; i < 20000; ++i) {
    std::string header = i % 2 == 0 ? "Bearer " : "";
    const size_t size = random() % 80;
    for (size_t j = 0; j < size; ++j) header += static_cast<char>(random() % 256);
    EXPECT_EQ(Ask(*access, header).status().code(), absl::StatusCode::kUnauthenticated);
  }
}

}  // namespace
}  // namespace sinkd
