#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "connection.h"
#include "server/access/sha256.h"
#include "server/base/status.h"
#include "server/http/http_server.h"

namespace sinkd {
namespace {

using sinkd::testing::Connection;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

constexpr char kBody[] = R"({"a":1})";

class SiteTest : public ::testing::Test {
 protected:
  SiteTest() {
    answer_ = [](const HttpQuery&, const std::stop_token&) {
      return HttpAnswer{.content_type = "application/json", .body = kBody};
    };
  }

  void Start(HttpAccess access = {}, Page page = {}) {
    HttpApi api{.answer =
                    [this](const HttpQuery& query, const std::stop_token& stop) {
                      {
                        const std::lock_guard lock(mutex_);
                        asked_ = query;
                      }
                      return answer_(query, stop);
                    },
                .refuse =
                    [](const absl::Status& error) {
                      return HttpAnswer{.status = 400,
                                        .content_type = "application/json",
                                        .body = GetErrorDetail(error)->reason};
                    }};
    auto server = HttpServer::Start(
        "127.0.0.1:0", {.metrics = [] { return std::string("up 1\n"); },
                        .not_ready = []() -> std::optional<std::string> { return std::nullopt; },
                        .api = std::move(api),
                        .page = page,
                        .access = std::move(access)});
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  // `more` are header lines, each with its end.
  std::string Ask(const std::string& method, const std::string& target,
                  const std::string& more = "", const std::string& host = "localhost") {
    Connection connection(server_->port());
    connection.Send(method + " " + target + " HTTP/1.1\r\nConnection: close\r\nHost: " + host +
                    "\r\n" + more + "\r\n");
    return connection.ReadAll();
  }

  HttpQuery asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

  std::function<HttpAnswer(const HttpQuery&, const std::stop_token&)> answer_;
  std::unique_ptr<HttpServer> server_;

 private:
  std::mutex mutex_;
  HttpQuery asked_;
};

TEST_F(SiteTest, AnAnswerCarriesTheDigestOfItsBytesAndIsNotSentToWhoHasThem) {
  Start();
  const std::string tag = "\"" + Sha256(kBody).substr(0, 32) + "\"";
  const std::string answer = Ask("GET", "/api/v1/x");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answer, HasSubstr("ETag: " + tag + "\r\n"));
  EXPECT_THAT(answer, EndsWith(std::string("\r\n\r\n") + kBody));
  for (const std::string& held : {tag, "W/" + tag, std::string("*"), "\"other\", " + tag}) {
    const std::string again = Ask("GET", "/api/v1/x", "If-None-Match: " + held + "\r\n");
    EXPECT_THAT(again, AllOf(StartsWith("HTTP/1.1 304"), HasSubstr("ETag: " + tag)));
    EXPECT_THAT(again, EndsWith("\r\n\r\n"));
  }
  EXPECT_THAT(Ask("GET", "/api/v1/x", "If-None-Match: \"other\"\r\n"), StartsWith("HTTP/1.1 200"));
}

TEST_F(SiteTest, TheApiIsToldTheTraceOfAQuery) {
  Start();
  const std::string first =
      "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n";
  const std::string second =
      "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n";
  Ask("GET", "/api/v1/x", "T" + first.substr(1));
  EXPECT_EQ(asked().trace, (TraceContext{"4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"}));
  EXPECT_THAT(Ask("GET", "/api/v1/x", first + second), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(asked().trace, std::nullopt);
}

TEST_F(SiteTest, HeadIsGetWithoutItsBody) {
  Start();
  const std::string id = "X-Request-Id: the-same\r\n";
  std::string whole = Ask("GET", "/api/v1/x", id);
  whole.resize(whole.size() - std::string(kBody).size());
  EXPECT_EQ(Ask("HEAD", "/api/v1/x", id), whole);
}

TEST_F(SiteTest, RangesAreIgnored) {
  Start();
  const std::string answer = Ask("GET", "/api/v1/x", "Range: bytes=0-1\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answer, EndsWith(std::string("\r\n\r\n") + kBody));
}

std::string Inflate(std::string_view gzip) {
  std::string text(size_t{1} << 20, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(gzip.data()));
  stream.avail_in = static_cast<uInt>(gzip.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

TEST_F(SiteTest, LongAnswersAreCompressedForThoseWhoTakeGzip) {
  Start();
  std::string body;
  for (int i = 0; i < 2000; ++i) body += std::to_string(i) + ",";
  answer_ = [&body](const HttpQuery&, const std::stop_token&) {
    return HttpAnswer{.content_type = "application/json", .body = body};
  };
  const std::string tag = Sha256(body).substr(0, 32);
  const std::string plain = Ask("GET", "/api/v1/x");
  EXPECT_THAT(
      plain, AllOf(EndsWith("\r\n\r\n" + body), Not(HasSubstr("Content-Encoding")),
                   HasSubstr("Vary: Accept-Encoding\r\n"), HasSubstr("ETag: \"" + tag + "\"\r\n")));
  const std::string gzip = Ask("GET", "/api/v1/x", "Accept-Encoding: gzip, br\r\n");
  EXPECT_THAT(gzip,
              AllOf(HasSubstr("Content-Encoding: gzip\r\n"), HasSubstr("Vary: Accept-Encoding\r\n"),
                    HasSubstr("ETag: \"" + tag + "-gzip\"\r\n")));
  const std::string sent = gzip.substr(gzip.find("\r\n\r\n") + 4);
  EXPECT_THAT(gzip, HasSubstr("Content-Length: " + std::to_string(sent.size()) + "\r\n"));
  EXPECT_LT(sent.size(), body.size() / 2);
  EXPECT_EQ(Inflate(sent), body);
  EXPECT_THAT(
      Ask("GET", "/api/v1/x", "Accept-Encoding: gzip\r\nIf-None-Match: \"" + tag + "-gzip\"\r\n"),
      StartsWith("HTTP/1.1 304"));
}

TEST_F(SiteTest, ShortAnswersAndErrorsAreNotCompressed) {
  Start();
  const std::string takes = "Accept-Encoding: gzip\r\n";
  EXPECT_THAT(Ask("GET", "/api/v1/x", takes), EndsWith(std::string("\r\n\r\n") + kBody));
  answer_ = [](const HttpQuery&, const std::stop_token&) {
    return HttpAnswer{.status = 404, .content_type = "text/plain", .body = std::string(5000, 'x')};
  };
  EXPECT_THAT(Ask("GET", "/api/v1/x", takes), EndsWith(std::string(5000, 'x')));
}

TEST_F(SiteTest, QueriesArriveDecodedAndInOrder) {
  Start();
  Ask("GET", "/api/v1/runs%2Fa/%C3%A9+?b=1+2&a=%26&b=&c&&label.x=y%3Dz#part");
  EXPECT_THAT(asked().path, ElementsAre("api", "v1", "runs/a", "\xC3\xA9+"));
  EXPECT_THAT(asked().parameters, ElementsAre(Pair("b", "1 2"), Pair("a", "&"), Pair("b", ""),
                                              Pair("c", ""), Pair("label.x", "y=z")));
  Ask("GET", "/api");
  EXPECT_THAT(asked().path, ElementsAre("api"));
  EXPECT_THAT(asked().parameters, IsEmpty());
}

TEST_F(SiteTest, AddressesThatCannotBeDecodedAreRefused) {
  Start();
  for (const char* const target : {"/api/%", "/api/%f", "/api/%gg", "/api/?a=%ff", "/api/%C0%80"}) {
    EXPECT_THAT(Ask("GET", target),
                AllOf(StartsWith("HTTP/1.1 400"), EndsWith("\r\n\r\nADDRESS_MALFORMED")))
        << target;
  }
}

TEST_F(SiteTest, OtherMethodsAreToldWhatIsAllowed) {
  Start();
  for (const char* const method : {"POST", "PUT", "DELETE", "PATCH", "TRACE", "QUERY"}) {
    const std::string answer = Ask(method, "/api/v1/x", "Content-Length: 400000\r\n");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 405")) << method;
    EXPECT_THAT(answer, HasSubstr("Allow: GET, HEAD, OPTIONS\r\n")) << method;
    EXPECT_THAT(answer, EndsWith("\r\n\r\nMETHOD_NOT_ALLOWED")) << method;
  }
  EXPECT_THAT(Ask("POST", "/"), StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(Ask("OPTIONS", "/api/v1/x"),
              AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("Allow: GET, HEAD, OPTIONS\r\n"),
                    Not(HasSubstr("Access-Control"))));
}

TEST_F(SiteTest, ARequestThatWasSentWholeHearsWhyItIsRefused) {
  Start();
  Connection connection(server_->port());
  connection.Send("POST /api/v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500000\r\n\r\n" +
                  std::string(500000, 'x'));
  EXPECT_THAT(connection.ReadAll(), EndsWith("METHOD_NOT_ALLOWED"));
}

TEST_F(SiteTest, OnlyNamesOfThisServerAreAnsweredTo) {
  Start({.any_host = false, .hosts = {"sinkd.example.org", "[fd00::1]"}});
  for (const char* const host : {"localhost", "LocalHost:9464", "127.0.0.1", "127.8.9.10:80",
                                 "[::1]", "[::1]:9464", "sinkd.example.org", "SINKD.example.org:80",
                                 "[fd00::1]:9464", "192.168.0.1", "10.2.3.4:9464", "[::2]"}) {
    for (const char* const path : {"/api/v1/x", "/metrics"}) {
      EXPECT_THAT(Ask("GET", path, "", host), StartsWith("HTTP/1.1 200")) << host;
    }
  }
  for (const char* const host :
       {"", "evil.example", "127.0.0.1.evil.example", "127.evil.example:9464", "localhost.evil",
        "sinkd.example.org.evil", "xlocalhost", "::1", "[::1", "[localhost]",
        "192.168.0.1.evil:80"}) {
    EXPECT_THAT(Ask("GET", "/api/v1/x", "", host),
                AllOf(StartsWith("HTTP/1.1 403"), EndsWith("HOST_NOT_ALLOWED")))
        << host;
    EXPECT_THAT(Ask("GET", "/", "", host), StartsWith("HTTP/1.1 403")) << host;
    EXPECT_THAT(Ask("GET", "/metrics", "", host), StartsWith("HTTP/1.1 403")) << host;
    EXPECT_THAT(Ask("GET", "/healthz", "", host), StartsWith("HTTP/1.1 200")) << host;
  }
}

TEST_F(SiteTest, PagesFromElsewhereReadNothingByDefault) {
  Start();
  EXPECT_THAT(Ask("GET", "/api/v1/x", "Origin: https://a.example\r\n"),
              AllOf(StartsWith("HTTP/1.1 200"), Not(HasSubstr("Access-Control"))));
}

TEST_F(SiteTest, PagesOfAnAllowedOriginReadTheApi) {
  Start({.origins = {"https://a.example"}});
  const std::string allowed = "Access-Control-Allow-Origin: https://a.example\r\n";
  EXPECT_THAT(Ask("GET", "/api/v1/x", "Origin: https://a.example\r\n"),
              AllOf(HasSubstr(allowed), HasSubstr("Vary: Accept-Encoding, Origin\r\n")));
  EXPECT_THAT(
      Ask("GET", "/api/v1/x", "Origin: https://a.example:8443\r\n"),
      AllOf(HasSubstr("Vary: Accept-Encoding, Origin\r\n"), Not(HasSubstr("Access-Control"))));
  EXPECT_THAT(
      Ask("OPTIONS", "/api/v1/x",
          "Origin: https://a.example\r\nAccess-Control-Request-Method: GET\r\n"
          "Access-Control-Request-Headers: if-none-match\r\n"),
      AllOf(StartsWith("HTTP/1.1 200"), HasSubstr(allowed),
            HasSubstr("Access-Control-Allow-Methods: GET, HEAD, OPTIONS\r\n"),
            HasSubstr(
                "Access-Control-Allow-Headers: Authorization, If-None-Match, traceparent\r\n")));
  EXPECT_THAT(Ask("GET", "/metrics", "Origin: https://a.example\r\n"),
              Not(HasSubstr("Access-Control")));
}

TEST_F(SiteTest, AStarAllowsEveryOrigin) {
  Start({.origins = {"*"}});
  EXPECT_THAT(Ask("GET", "/api/v1/x", "Origin: https://b.example\r\n"),
              HasSubstr("Access-Control-Allow-Origin: *\r\n"));
}

TEST_F(SiteTest, ThePageComesAsTheBrowserTakesIt) {
  Start({}, {.html = "<p>page", .gzip = "squeezed", .digest = "d1", .policy = "default-src x"});
  const std::string plain = Ask("GET", "/");
  EXPECT_THAT(plain, AllOf(StartsWith("HTTP/1.1 200"), EndsWith("\r\n\r\n<p>page"),
                           HasSubstr("Content-Security-Policy: default-src x\r\n"),
                           HasSubstr("Vary: Accept-Encoding\r\n"), HasSubstr("ETag: \"d1\"\r\n"),
                           HasSubstr("Content-Type: text/html; charset=utf-8\r\n")));
  EXPECT_THAT(plain, Not(HasSubstr("Content-Encoding")));
  for (const char* const takes : {"gzip", "br, gzip;q=0.5", "deflate, gzip"}) {
    EXPECT_THAT(Ask("GET", "/", std::string("Accept-Encoding: ") + takes + "\r\n"),
                AllOf(EndsWith("\r\n\r\nsqueezed"), HasSubstr("Content-Encoding: gzip\r\n"),
                      HasSubstr("ETag: \"d1-gzip\"\r\n")))
        << takes;
  }
  for (const char* const takes : {"br", "gzip;q=0", "gzip; q=0.0", "xgzip"}) {
    EXPECT_THAT(Ask("GET", "/", std::string("Accept-Encoding: ") + takes + "\r\n"),
                EndsWith("\r\n\r\n<p>page"))
        << takes;
  }
  EXPECT_THAT(Ask("GET", "/", "If-None-Match: \"d1\"\r\n"), StartsWith("HTTP/1.1 304"));
}

TEST_F(SiteTest, AServerWithoutAPageSaysSo) {
  Start();
  EXPECT_THAT(Ask("GET", "/"), AllOf(StartsWith("HTTP/1.1 404"), EndsWith(std::string(kNoPage))));
}

// Answers that wait until they are let go, or told to stop.
class HeldAnswers {
 public:
  HttpAnswer Hold(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    ++held_;
    changed_.notify_all();
    changed_.wait(lock, stop, [this] { return let_go_; });
    if (stop.stop_requested()) ++stopped_;
    changed_.notify_all();
    return {.content_type = "application/json", .body = kBody};
  }
  void AwaitHeld(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return held_ >= count; });
  }
  void AwaitStopped(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ >= count; });
  }
  void LetGo() {
    const std::lock_guard lock(mutex_);
    let_go_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  int held_ = 0, stopped_ = 0;
  bool let_go_ = false;
};

class BusySiteTest : public SiteTest {
 protected:
  BusySiteTest() {
    answer_ = [this](const HttpQuery&, const std::stop_token& stop) { return held_.Hold(stop); };
  }
  HeldAnswers held_;
};

TEST_F(BusySiteTest, QueriesInPlentyAreRefusedAndHoldNothingElseUp) {
  Start();
  std::vector<std::future<std::string>> answers;
  for (int i = 0; i < 6; ++i) {
    answers.push_back(std::async(std::launch::async, [this] { return Ask("GET", "/api/v1/x"); }));
  }
  held_.AwaitHeld(6);
  EXPECT_THAT(Ask("GET", "/api/v1/x"), AllOf(StartsWith("HTTP/1.1 429"), EndsWith("API_FULL")));
  EXPECT_THAT(Ask("GET", "/healthz"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Ask("GET", "/metrics"), StartsWith("HTTP/1.1 200"));
  held_.LetGo();
  for (std::future<std::string>& answer : answers) {
    EXPECT_THAT(answer.get(), StartsWith("HTTP/1.1 200"));
  }
}

TEST_F(BusySiteTest, AClientThatGoesAwayEndsItsQuery) {
  Start();
  {
    Connection connection(server_->port());
    connection.Send("GET /api/v1/x HTTP/1.1\r\nHost: localhost\r\n\r\n");
    held_.AwaitHeld(1);
  }
  held_.AwaitStopped(1);
}

TEST_F(BusySiteTest, StoppingTheServerEndsItsQueries) {
  Start();
  std::future<std::string> answer =
      std::async(std::launch::async, [this] { return Ask("GET", "/api/v1/x"); });
  held_.AwaitHeld(1);
  server_->Stop();
  held_.AwaitStopped(1);
  EXPECT_THAT(answer.get(), StartsWith("HTTP/1.1 200"));
}

}  // namespace
}  // namespace sinkd
