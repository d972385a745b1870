// What clients that are silent, slow, greedy or dishonest can do to the HTTP port.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "connection.h"
#include "principal.h"
#include "server/base/status.h"
#include "server/http/http_server.h"

namespace sinkd {
namespace {

using sinkd::testing::Connection;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::chrono::seconds kPatience{60};
constexpr char kGet[] = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";
constexpr char kQuery[] = "GET /api/v1/x HTTP/1.1\r\nHost: a\r\n\r\n";
constexpr char kOk[] = "HTTP/1.1 200";

class HttpLimitsTest : public ::testing::Test {
 protected:
  void Start(HttpTimes times = {}, ConnectionLimits limits = {}) {
    HttpApi api{.answer =
                    [this](const HttpQuery&, const std::stop_token&) {
                      ++made_;
                      return HttpAnswer{.content_type = "a/b",
                                        .body = std::string(body_bytes_, 'x')};
                    },
                .refuse =
                    [](const absl::Status& error) {
                      return HttpAnswer{.body = GetErrorDetail(error)->reason};
                    }};
    HttpServer::Sources sources{
        .metrics = [this] { return std::string(body_bytes_, 'm'); },
        .not_ready = [] { return std::optional<std::string>(); },
        .api = std::move(api),
        .admit = [](const Credentials& shown,
                    Role) -> absl::StatusOr<std::shared_ptr<const Principal>> {
          return testing::NamedPrincipal(
              std::string(shown.authorization.empty() ? "one" : shown.authorization[0]));
        },
        .times = times};
    auto server =
        HttpServer::Start("127.0.0.1:0", std::move(sources), {.name = "http", .limits = limits});
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  std::unique_ptr<Connection> Open(const std::string& sent = "") {
    auto connection = std::make_unique<Connection>(server_->port());
    EXPECT_TRUE(connection->connected());
    connection->Send(sent);
    return connection;
  }

  std::string Ask(const std::string& target, const std::string& lines = "",
                  const std::string& method = "GET") {
    return Open(method + " " + target + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + lines +
                "\r\n")
        ->ReadAll();
  }

  // Until the server closes one to which this keeps writing.
  static void WaitUntilClosed(Connection& connection, const std::string& drip = "") {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!connection.closed() && std::chrono::steady_clock::now() < end) {
      connection.Send(drip);
      std::this_thread::sleep_for(milliseconds(20));
    }
    EXPECT_TRUE(connection.closed());
  }

  std::atomic<int> made_ = 0;
  std::atomic<size_t> body_bytes_ = 3;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpLimitsTest, SilentConnectionsHoldNothingUp) {
  Start({.head = std::chrono::minutes(10)});
  std::vector<std::unique_ptr<Connection>> silent;
  for (int i = 0; i < 200; ++i)
    silent.push_back(Open(i % 2 == 0 ? "" : "GET /healthz HTTP/1.1\r\n"));
  for (const char* const path : {"/healthz", "/readyz", "/metrics", "/api/v1/x"}) {
    EXPECT_THAT(Ask(path), StartsWith(kOk)) << path;
  }
  // Answered while they were there, not after they were gone.
  for (const auto& each : silent) EXPECT_FALSE(each->closed());
}

TEST_F(HttpLimitsTest, AHeadHasATimeWhetherItStopsOrDrips) {
  Start({.head = milliseconds(100)});
  WaitUntilClosed(*Open());
  WaitUntilClosed(*Open("GET /healthz HTTP/1.1\r\nHost: a\r\n"));
  WaitUntilClosed(*Open("GET /healthz HTTP/1.1\r\n"), "A: b\r\n");
}

TEST_F(HttpLimitsTest, AConnectionServesManyRequestsAndNotWithoutEnd) {
  Start();
  const auto connection = Open();
  int served = 0;
  for (bool stays = true; stays && served < 2000; ++served) {
    connection->Send(kGet);
    const std::string answer = connection->ReadOne();
    ASSERT_THAT(answer, AllOf(StartsWith(kOk), EndsWith("\r\n\r\nok\n")));
    stays = answer.find("Connection: close") == std::string::npos;
  }
  EXPECT_EQ(served, 1000);
  EXPECT_EQ(connection->ReadAll(), "");
}

TEST_F(HttpLimitsTest, AnIdleConnectionIsClosed) {
  Start({.idle = milliseconds(50)});
  const auto connection = Open(kGet);
  EXPECT_THAT(connection->ReadOne(), StartsWith(kOk));
  WaitUntilClosed(*connection);
}

TEST_F(HttpLimitsTest, ConnectionsAreClosedWhereTheClientSaysSo) {
  Start();
  for (const char* const request : {"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
                                    "GET /healthz HTTP/1.0\r\n\r\n"}) {
    EXPECT_THAT(Open(request)->ReadAll(), AllOf(StartsWith(kOk), HasSubstr("Connection: close")));
  }
  const auto old = Open();
  for (int i = 0; i < 2; ++i) {
    old->Send("GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_THAT(old->ReadOne(), StartsWith(kOk));
  }
}

TEST_F(HttpLimitsTest, RequestsSentTogetherAreAnsweredInTurn) {
  Start();
  const auto connection =
      Open(std::string(kQuery) + kGet + "HEAD /healthz HTTP/1.1\r\nHost: a\r\n\r\n" + kGet);
  EXPECT_THAT(connection->ReadOne(), EndsWith("\r\n\r\nxxx"));
  EXPECT_THAT(connection->ReadOne(), EndsWith("\r\n\r\nok\n"));
  EXPECT_THAT(connection->ReadOne(/*has_body=*/false), EndsWith("\r\n\r\n"));
  EXPECT_THAT(connection->ReadOne(), EndsWith("\r\n\r\nok\n"));
}

TEST_F(HttpLimitsTest, AHeadIsOfBoundedSize) {
  Start();
  std::string many;
  for (int i = 0; i < 200; ++i) many += "A: b\r\n";
  EXPECT_THAT(Ask("/healthz", many), StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(Ask("/healthz", "A: " + std::string(9000, 'x') + "\r\n"), StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(Ask("/api/v1/" + std::string(9000, 'x')),
              AllOf(StartsWith("HTTP/1.1 414"), EndsWith("ADDRESS_TOO_LONG")));
  // Headers without end: refused at the bound, while they still come.
  const auto endless = Open("GET /api HTTP/1.1\r\nHost: a\r\n");
  for (int i = 0; i < 100; ++i) endless->Send("A: " + std::string(1000, 'x') + "\r\n");
  EXPECT_THAT(endless->ReadAll(), AllOf(StartsWith("HTTP/1.1 431"), EndsWith("HEADERS_TOO_LARGE")));
}

TEST_F(HttpLimitsTest, RangesAreNotServed) {
  Start();
  body_bytes_ = 10000;
  std::string ranges = "Range: bytes=0-";
  for (int i = 0; i < 1500; ++i) ranges += ",0-";
  for (const char* const path : {"/metrics", "/api/v1/x", "/healthz"}) {
    const std::string answer = Ask(path, ranges + "\r\n");
    EXPECT_THAT(answer, StartsWith(kOk)) << path;
    EXPECT_LT(answer.size(), 11000u) << path;
  }
}

TEST_F(HttpLimitsTest, WhoSendsABodyIsAnsweredAtOnceAndLeft) {
  Start();
  const std::string smuggled = kQuery;
  for (const std::string& sent :
       {"Content-Length: 999999999999\r\n\r\n" + smuggled,
        std::string("Content-Length: 3\r\nExpect: 100-continue\r\n\r\n"),
        "Content-Length: " + std::to_string(smuggled.size()) + "\r\n\r\n" + smuggled,
        "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled,
        std::string("Transfer-Encoding: chunked\r\n\r\n") + "1\r\na\r\n1\r\nb\r\n1\r\nc\r\n",
        std::string("Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n")}) {
    for (const auto& [method, line] : {std::pair("POST", "HTTP/1.1 405"), {"GET", kOk}}) {
      const std::string answer =
          Open(std::string(method) + " /healthz HTTP/1.1\r\nHost: a\r\n" + sent)->ReadAll();
      EXPECT_THAT(answer, AllOf(StartsWith(line), HasSubstr("Connection: close\r\n"))) << sent;
      EXPECT_EQ(answer.find("\nHTTP/1.1"), std::string::npos) << "a second answer: " << answer;
    }
  }
  EXPECT_EQ(made_, 0);
}

TEST_F(HttpLimitsTest, RequestsThatCanBeReadInTwoWaysAreRefused) {
  Start();
  for (const char* const lines :
       {"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 4\r\nContent-Length: 5\r\n", "Transfer-Encoding: gzip\r\n",
        "Content-Length: -1\r\n", "Host: b\r\n"}) {
    const std::string answer =
        Open(std::string("GET /api HTTP/1.1\r\nHost: a\r\n") + lines + "\r\n0\r\n\r\n" + kQuery)
            ->ReadAll();
    EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 400"), EndsWith("REQUEST_MALFORMED"))) << lines;
  }
  EXPECT_EQ(made_, 0);
}

TEST_F(HttpLimitsTest, NothingOfARequestBecomesALineOfItsAnswer) {
  Start();
  for (const char* const lines : {"X-Request-Id: a\x01 b\r\n", "X-Request-Id: a%0d%0aEvil: b\r\n",
                                  "X-Request-Id: a\rEvil: b\r\n", "Origin: https://a\rEvil: b\r\n",
                                  "X-Request-Id: a\r\n Evil: b\r\n"}) {
    EXPECT_THAT(Ask("/api/v1/x", lines), Not(HasSubstr("Evil"))) << lines;
  }
}

TEST_F(HttpLimitsTest, SlowReadersHoldNoQueryUp) {
  body_bytes_ = size_t{6} << 20;
  Start();
  std::vector<std::unique_ptr<Connection>> slow;
  for (int i = 0; i < 8; ++i) {
    slow.push_back(Open(kQuery));
    ASSERT_TRUE(slow.back()->Receive());
  }
  EXPECT_THAT(Ask("/api/v1/x"), StartsWith(kOk));
  for (const auto& each : slow) EXPECT_GT(each->ReadOne().size(), body_bytes_);
}

TEST_F(HttpLimitsTest, WhoDoesNotTakeAnAnswerIsLeft) {
  body_bytes_ = size_t{16} << 20;               // more than the system buffers for a connection
  Start({.body = std::chrono::seconds(-256)});  // 16 MiB in no time, at 64 KiB a second
  const auto slow = Open(kQuery);
  EXPECT_LT(slow->ReadAll().size(), body_bytes_);
}

TEST_F(HttpLimitsTest, AnswersThatACallerDoesNotTakeAreBounded) {
  body_bytes_ = size_t{16} << 20;
  Start();
  std::vector<std::unique_ptr<Connection>> slow;
  const std::string head = "HEAD /api/v1/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  const auto status = [&] { return Open(head)->ReadAll().substr(0, 12); };
  for (int i = 0; i < 20 && status() != "HTTP/1.1 429"; ++i) slow.push_back(Open(kQuery));
  EXPECT_LE(slow.size(), 8u);  // 5 times 16 MiB are over, and some may be under way
  EXPECT_THAT(Ask("/api/v1/x", "Authorization: another\r\n", "HEAD"), StartsWith(kOk));
  slow.clear();
  while (status() == "HTTP/1.1 429") std::this_thread::sleep_for(milliseconds(10));
}

TEST_F(HttpLimitsTest, AFullPortGivesUpWhoHasBeenSilentLongest) {
  Start({.head = std::chrono::minutes(10)}, {.in_all = 16, .by_address = 16});
  std::vector<std::unique_ptr<Connection>> silent;
  for (int i = 0; i < 40; ++i) {
    silent.push_back(Open());
    ASSERT_THAT(Ask("/healthz"), StartsWith(kOk)) << i;
  }
  EXPECT_TRUE(silent.front()->closed());
  EXPECT_FALSE(silent.back()->closed());
}

TEST_F(HttpLimitsTest, StoppingWaitsForNoClient) {
  body_bytes_ = size_t{16} << 20;
  Start();
  std::vector<std::unique_ptr<Connection>> others;
  for (int i = 0; i < 100; ++i) others.push_back(Open(i % 2 == 0 ? "" : "GET /"));
  for (int i = 0; i < 4; ++i) {
    others.push_back(Open(kQuery));
    ASSERT_TRUE(others.back()->Receive());
  }
  // One thread at a time waited five seconds for each of these.
  auto stopped = std::async(std::launch::async, [this] { server_->Stop(); });
  EXPECT_EQ(stopped.wait_for(std::chrono::seconds(20)), std::future_status::ready);
}

}  // namespace
}  // namespace sinkd
