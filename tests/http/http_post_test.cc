// Analyses posted to the HTTP port: who may, what their bodies must be, and how many there are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "connection.h"
#include "principal.h"
#include "server/base/status.h"
#include "server/http/http_server.h"

namespace sinkd {
namespace {

using ::testing::AllOf;
using testing::Connection;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kType[] = "Content-Type: application/jsonl\r\n";

class HttpPostTest : public ::testing::Test {
 protected:
  void Start(HttpAccess access = {}, bool read_only = false) {
    HttpApi api{.answer = [](const HttpQuery&, const std::stop_token&) { return HttpAnswer(); },
                .refuse =
                    [](const absl::Status& error) {
                      return HttpAnswer{.content_type = "a/b",
                                        .body = GetErrorDetail(error)->reason};
                    }};
    if (!read_only) {
      api.analyze = [this](const HttpQuery& query, const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        ++under_way_;
        changed_.notify_all();
        changed_.wait(lock, stop, [this] { return !held_; });
        --under_way_;
        changed_.notify_all();
        return HttpAnswer{.content_type = "a/b", .body = query.caller + " said " + query.body};
      };
    }
    HttpServer::Sources sources{
        .metrics = [] { return std::string(); },
        .not_ready = [] { return std::optional<std::string>(); },
        .api = std::move(api),
        .access = std::move(access),
        .admit = [this](const Credentials& shown,
                        Role least) -> absl::StatusOr<std::shared_ptr<const Principal>> {
          const std::string name(shown.authorization.empty() ? "one" : shown.authorization[0]);
          if (least > role_) return absl::PermissionDeniedError("not you");
          return testing::NamedPrincipal(name);
        },
        .times = {.body = std::chrono::milliseconds(300)}};
    auto server = HttpServer::Start("127.0.0.1:0", std::move(sources));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  static std::string Post(const std::string& lines, const std::string& body,
                          const std::string& path = "/api/v1/analyze") {
    return "POST " + path +
           " HTTP/1.1\r\nHost: here:1\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
           lines + "\r\n" + body;
  }
  std::string Ask(const std::string& sent) {
    Connection connection(server_->port());
    connection.Send(sent);
    return connection.ReadOne();
  }
  std::string Closing(const std::string& lines, const std::string& body) {
    return Ask(Post(lines + "Connection: close\r\n", body));
  }

  void Hold(bool held) {
    const std::lock_guard lock(mutex_);
    held_ = held;
    changed_.notify_all();
  }
  void WaitFor(int under_way) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return under_way_ == under_way; });
  }

  Role role_ = Role::kAdmin;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool held_ = false;
  int under_way_ = 0;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpPostTest, ABodyIsTakenWholeAndTheConnectionGoesOn) {
  Start();
  Connection connection(server_->port());
  const std::string body(200000, 'x');
  connection.Send(Post(kType, body));
  EXPECT_THAT(connection.ReadOne(),
              AllOf(StartsWith("HTTP/1.1 200"), EndsWith("one said " + body)));
  connection.Send(Post("Content-Type: application/jsonl; charset=utf-8\r\n", "y") +
                  Post(kType, "z"));
  EXPECT_THAT(connection.ReadOne(), EndsWith("said y"));
  EXPECT_THAT(connection.ReadOne(), EndsWith("said z"));
}

TEST_F(HttpPostTest, WhoAsksFirstIsToldToGoOn) {
  Start();
  Connection connection(server_->port());
  const std::string request = Post(std::string(kType) + "Expect: 100-continue\r\n", "body");
  connection.Send(request.substr(0, request.size() - 4));
  EXPECT_THAT(connection.ReadOne(/*has_body=*/false), StartsWith("HTTP/1.1 100"));
  connection.Send("body");
  EXPECT_THAT(connection.ReadOne(), EndsWith("said body"));
}

TEST_F(HttpPostTest, ABodyThatCannotBeTakenIsRefusedUnread) {
  Start();
  EXPECT_THAT(Closing("Content-Type: text/plain\r\n", "x"),
              AllOf(StartsWith("HTTP/1.1 415"), EndsWith("CONTENT_TYPE_NOT_ALLOWED")));
  const std::string head = std::string("POST /api/v1/analyze HTTP/1.1\r\nHost: a\r\n") + kType;
  EXPECT_THAT(Ask(head + "Content-Length: 8388609\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 413"), EndsWith("BODY_TOO_LARGE")));
  for (const char* none : {"", "Transfer-Encoding: chunked\r\n"}) {
    EXPECT_THAT(Ask(head + none + "\r\n"),
                AllOf(StartsWith("HTTP/1.1 411"), EndsWith("LENGTH_REQUIRED")));
  }
  EXPECT_THAT(Ask(Post(kType, "x", "/api/v1/models")), StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(Ask("GET /api/v1/analyze HTTP/1.1\r\nHost: a\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 405"), HasSubstr("Allow: POST, OPTIONS")));
}

TEST_F(HttpPostTest, ABodyThatDoesNotComeIsGivenUp) {
  Start();
  Connection connection(server_->port());
  connection.Send(std::string("POST /api/v1/analyze HTTP/1.1\r\nHost: a\r\n") + kType +
                  "Content-Length: 10\r\n\r\nhalf");
  EXPECT_EQ(connection.ReadAll(), "");
}

TEST_F(HttpPostTest, TakesTheRoleThatMayAnalyse) {
  role_ = Role::kRead;
  Start();
  EXPECT_THAT(Closing(kType, "x"), StartsWith("HTTP/1.1 403"));
  role_ = Role::kAnalyse;
  EXPECT_THAT(Closing(kType, "x"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpPostTest, OtherSitesPagesAreRefused) {
  Start({.origins = {"*", "https://named.example"}});
  const auto from = [this](const std::string& origin) {
    return Closing(std::string(kType) + origin, "x");
  };
  for (const char* mine : {"http://here:1", "https://here:1", "https://named.example"}) {
    EXPECT_THAT(from(std::string("Origin: ") + mine + "\r\n"), StartsWith("HTTP/1.1 200")) << mine;
  }
  for (const char* other : {"null", "http://here:2", "http://here", "http://here:1.evil.example",
                            "https://named.example:444", "*", "here:1"}) {
    EXPECT_THAT(from(std::string("Origin: ") + other + "\r\n"),
                AllOf(StartsWith("HTTP/1.1 403"), EndsWith("ORIGIN_NOT_ALLOWED")))
        << other;
  }
  EXPECT_THAT(from("Origin: http://here:1\r\nOrigin: http://evil.example\r\n"),
              StartsWith("HTTP/1.1 403"));
}

TEST_F(HttpPostTest, BrowsersHearWhichOriginsMayPost) {
  Start({.origins = {"*", "https://named.example"}});
  const auto asked = [this](const std::string& origin) {
    return Ask("OPTIONS /api/v1/analyze HTTP/1.1\r\nHost: here:1\r\nOrigin: " + origin +
               "\r\nAccess-Control-Request-Method: POST\r\n\r\n");
  };
  EXPECT_THAT(asked("https://named.example"),
              AllOf(HasSubstr("Access-Control-Allow-Methods: POST, OPTIONS\r\n"),
                    HasSubstr("Access-Control-Allow-Headers: Authorization, Content-Type,")));
  EXPECT_THAT(asked("https://other.example"), Not(HasSubstr("Access-Control-Allow")));
}

TEST_F(HttpPostTest, APortThatOnlyReadsSaysSo) {
  Start({}, /*read_only=*/true);
  EXPECT_THAT(Closing(kType, "x"), AllOf(StartsWith("HTTP/1.1 403"), EndsWith("HTTP_READ_ONLY")));
}

TEST_F(HttpPostTest, ACallerHasTwoAtOnceAndAllHaveFour) {
  Start();
  Hold(true);
  std::vector<std::unique_ptr<Connection>> open;
  const auto post = [&](const std::string& caller) {
    open.push_back(std::make_unique<Connection>(server_->port()));
    open.back()->Send(Post(kType + ("Authorization: " + caller + "\r\n"), "x"));
  };
  const auto refused = [&](const std::string& caller) {
    return Closing(kType + ("Authorization: " + caller + "\r\n"), "x");
  };
  post("a");
  post("a");
  WaitFor(2);
  EXPECT_THAT(refused("a"), AllOf(StartsWith("HTTP/1.1 429"), EndsWith("API_FULL")));
  post("b");
  post("c");
  WaitFor(4);
  EXPECT_THAT(refused("d"), StartsWith("HTTP/1.1 429"));
  EXPECT_THAT(Ask("GET /api/v1/models HTTP/1.1\r\nHost: a\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  Hold(false);
  for (const auto& each : open) EXPECT_THAT(each->ReadOne(), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(refused("d"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpPostTest, AnAnalysisEndsWithItsClientAndWithTheServer) {
  Start();
  Hold(true);
  auto leaving = std::make_unique<Connection>(server_->port());
  leaving->Send(Post(kType, "x"));
  WaitFor(1);
  leaving.reset();
  WaitFor(0);
  Connection staying(server_->port());
  staying.Send(Post(kType, "x"));
  WaitFor(1);
  server_->Stop();
  WaitFor(0);
}

}  // namespace
}  // namespace sinkd
