#include "server/http/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "connection.h"
#include "principal.h"

namespace sinkd {
namespace {

using sinkd::testing::Connection;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class HttpServerTest : public ::testing::Test {
 protected:
  HttpServerTest() {
    auto server = HttpServer::Start("127.0.0.1:0",
                                    {.metrics = [] { return std::string("# HELP up x\nup 1\n"); },
                                     .not_ready = [this]() -> std::optional<std::string> {
                                       if (ready_) return std::nullopt;
                                       return "loading models";
                                     }});
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  std::string Ask(const std::string& method, const std::string& target) {
    Connection connection(server_->port());
    connection.Send(method + " " + target + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    return connection.ReadAll();
  }

  std::atomic<bool> ready_ = false;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, PicksAFreePort) {
  EXPECT_GT(server_->port(), 0);
}

TEST_F(HttpServerTest, ServesThePrometheusText) {
  const std::string answer = Ask("GET", "/metrics");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answer, HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8"));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\n# HELP up x\nup 1\n"));
}

TEST_F(HttpServerTest, IsAliveBeforeItIsReady) {
  EXPECT_THAT(Ask("GET", "/healthz"), StartsWith("HTTP/1.1 200"));
  const std::string before = Ask("GET", "/readyz");
  EXPECT_THAT(before, StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(before, HasSubstr("loading models"));
  ready_ = true;
  EXPECT_THAT(Ask("GET", "/readyz"), StartsWith("HTTP/1.1 200"));
  ready_ = false;
  EXPECT_THAT(Ask("GET", "/readyz"), StartsWith("HTTP/1.1 503"));
}

TEST_F(HttpServerTest, AnswersAnythingElseWithAnError) {
  EXPECT_THAT(Ask("GET", "/"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Ask("GET", "/metrics/../etc/passwd"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Ask("POST", "/metrics"), StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(Ask("DELETE", "/healthz"), StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(Ask("HEAD", "/healthz"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Ask("GET", "/" + std::string(20000, 'a')), StartsWith("HTTP/1.1 4"));
  EXPECT_THAT(Ask("GET", "/metrics"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, SurvivesBytesThatAreNotHttp) {
  {
    Connection connection(server_->port());
    connection.Send(std::string("\x16\x03\x01\0\0garbage\r\n\r\n", 16));
    EXPECT_THAT(connection.ReadAll(), StartsWith("HTTP/1.1 400"));
  }
  { const Connection silent(server_->port()); }
  EXPECT_THAT(Ask("GET", "/healthz"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, AnswersManyAtOnce) {
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 10; ++k) good += Ask("GET", "/metrics").starts_with("HTTP/1.1 200");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 160);
}

TEST_F(HttpServerTest, StopsOnceForGood) {
  const int port = server_->port();
  server_->Stop();
  server_->Stop();
  EXPECT_FALSE(Connection(port).connected());
}

TEST_F(HttpServerTest, APortThatIsTakenIsRefusedByName) {
  const std::string address = "127.0.0.1:" + std::to_string(server_->port());
  const auto second = HttpServer::Start(address, {});
  EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(address));
}

// What a server told of who asked, and what it let them have.
class GuardedServerTest : public ::testing::Test {
 protected:
  void Start(bool metrics_open) {
    auto server = HttpServer::Start(
        "127.0.0.1:0", {.metrics = [] { return std::string("up 1\n"); },
                        .not_ready = [] { return std::optional<std::string>(); },
                        .admit = [this](const Credentials& shown,
                                        Role) -> absl::StatusOr<std::shared_ptr<const Principal>> {
                          asked_.emplace_back(shown.authorization.begin(),
                                              shown.authorization.end());
                          if (!verdict_.ok()) return verdict_;
                          return testing::NamedPrincipal("nora");
                        },
                        .metrics_open = metrics_open});
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  std::string Ask(const std::string& target, const std::string& headers = "") {
    Connection connection(server_->port());
    connection.Send("GET " + target + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + headers +
                    "\r\n");
    return connection.ReadAll();
  }

  absl::Status verdict_;
  std::vector<std::vector<std::string>> asked_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(GuardedServerTest, RefusesMetricsAndTheApiToWhoIsNotAdmitted) {
  Start(/*metrics_open=*/false);
  const std::pair<absl::StatusCode, std::string> refusals[] = {
      {absl::StatusCode::kUnauthenticated, "HTTP/1.1 401"},
      {absl::StatusCode::kPermissionDenied, "HTTP/1.1 403"},
      {absl::StatusCode::kResourceExhausted, "HTTP/1.1 429"}};
  for (const auto& [code, line] : refusals) {
    verdict_ = absl::Status(code, "not you");
    for (const char* path : {"/metrics", "/api/v1/models", "/api"}) {
      const std::string answer = Ask(path);
      EXPECT_THAT(answer, StartsWith(line)) << path;
      EXPECT_THAT(answer, HasSubstr("not you")) << path;
      EXPECT_EQ(answer.find("WWW-Authenticate: Bearer") != std::string::npos,
                code == absl::StatusCode::kUnauthenticated);
    }
  }
}

TEST_F(GuardedServerTest, AsksNothingOfProbesAndOfThePage) {
  Start(/*metrics_open=*/true);
  verdict_ = absl::UnauthenticatedError("not you");
  for (const char* path : {"/healthz", "/readyz", "/metrics"}) {
    EXPECT_THAT(Ask(path), StartsWith("HTTP/1.1 200")) << path;
  }
  EXPECT_THAT(Ask("/"), StartsWith("HTTP/1.1 404"));  // there is none
  EXPECT_THAT(asked_, ::testing::IsEmpty());
}

TEST_F(GuardedServerTest, ShowsEveryHeaderThatWasSent) {
  Start(/*metrics_open=*/false);
  Ask("/metrics");
  Ask("/metrics", "authorization: Bearer a\r\nAuthorization: Bearer b\r\n");
  ASSERT_EQ(asked_.size(), 2u);
  EXPECT_THAT(asked_[0], ::testing::IsEmpty());
  EXPECT_THAT(asked_[1], ::testing::UnorderedElementsAre("Bearer a", "Bearer b"));
}

TEST(HttpServerAddress, MustBeHostAndPort) {
  for (const char* const address :
       {"", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "127.0.0.1:-1", ":80"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(HttpServer::Start(address, {}).status())) << address;
  }
}

}  // namespace
}  // namespace sinkd
