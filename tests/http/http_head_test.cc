#include "server/http/http_head.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "server/base/status.h"

namespace sinkd {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string With(const std::string& lines) {
  return "POST /api HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n";
}

std::string ReasonOf(const std::string& bytes) {
  const absl::StatusOr<HttpHead> head = ParseHead(bytes);
  return head.ok() ? "" : GetErrorDetail(head.status())->reason;
}

TEST(HttpHead, HoldsWhatWasSent) {
  const auto head =
      ParseHead("GET /a%20b?c=d#e HTTP/1.1\r\nhOST:  x \r\nA: 1\r\nB:\r\na: 2\r\n\r\n");
  ASSERT_TRUE(head.ok()) << head.status();
  EXPECT_EQ(head->method, "GET");
  EXPECT_EQ(head->target, "/a%20b?c=d#e");
  EXPECT_EQ(head->path(), "/a%20b");
  EXPECT_EQ(head->Only("host"), "x");
  EXPECT_THAT(head->All("a"), ElementsAre("1", "2"));
  EXPECT_EQ(head->Only("a"), "");
  EXPECT_THAT(head->All("b"), ElementsAre(""));
  EXPECT_FALSE(head->has_body);
  EXPECT_TRUE(head->keeps_alive);
}

TEST(HttpHead, TellsWhetherTheClientStays) {
  for (const auto& [line, stays] : {std::pair("HTTP/1.1\r\nHost: a\r\n", true),
                                    {"HTTP/1.1\r\nHost: a\r\nConnection: close\r\n", false},
                                    {"HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n", false},
                                    {"HTTP/1.0\r\n", false},
                                    {"HTTP/1.0\r\nConnection: keep-alive\r\n", true}}) {
    const auto head = ParseHead(std::string("GET / ") + line + "\r\n");
    ASSERT_TRUE(head.ok()) << line;
    EXPECT_EQ(head->keeps_alive, stays) << line;
  }
}

TEST(HttpHead, TellsWhetherABodyFollows) {
  for (const auto& [lines, follows] : {std::pair("", false),
                                       {"Content-Length: 0\r\n", false},
                                       {"Content-Length: 1\r\n", true},
                                       {"Content-Length: 999999999999999999\r\n", true},
                                       {"Transfer-Encoding: chunked\r\n", true},
                                       {"transfer-encoding: CHUNKED\r\n", true}}) {
    const auto head = ParseHead(With(lines));
    ASSERT_TRUE(head.ok()) << lines;
    EXPECT_EQ(head->has_body, follows) << lines;
  }
}

// RFC 9112, sections 2.2, 3.2, 5 and 6.3, and what has been used to smuggle requests.
TEST(HttpHead, RefusesWhatCanBeReadInTwoWays) {
  for (const char* const lines : {"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n",
                                  "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n",
                                  "Content-Length: 1\r\nContent-Length: 1\r\n",
                                  "Content-Length: 1\r\nContent-Length: 2\r\n",
                                  "Content-Length: 1, 1\r\n",
                                  "Content-Length: -1\r\n",
                                  "Content-Length: +1\r\n",
                                  "Content-Length: 0x1\r\n",
                                  "Content-Length: 1 1\r\n",
                                  "Content-Length:\r\n",
                                  "Content-Length: 99999999999999999999999999\r\n",
                                  "Transfer-Encoding: gzip, chunked\r\n",
                                  "Transfer-Encoding: chunked, chunked\r\n",
                                  "Transfer-Encoding: identity\r\n",
                                  "Transfer-Encoding: xchunked\r\n",
                                  "Transfer-Encoding:\r\n",
                                  "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                                  "Transfer-Encoding : chunked\r\n",
                                  "Transfer-Encoding\t: chunked\r\n",
                                  "Host: b\r\n",
                                  "host: a\r\n",
                                  " Host: b\r\n\r\n",
                                  "A: \x01\r\n",
                                  "A: b\rc\r\n",
                                  "A: b\nc\r\n",
                                  "A b\r\n",
                                  ": a\r\n",
                                  "A(: b\r\n"}) {
    EXPECT_EQ(ReasonOf(With(lines)), "REQUEST_MALFORMED") << lines;
  }
  EXPECT_EQ(ReasonOf("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), "REQUEST_MALFORMED");
  EXPECT_EQ(ReasonOf(With(std::string("A: b\0c\r\n", 8))), "REQUEST_MALFORMED");
}

TEST(HttpHead, RefusesWhatIsNoRequestLine) {
  for (const char* const line :
       {"", "GET", "GET /", "GET / HTTP/1.1 ", "GET  / HTTP/1.1", " GET / HTTP/1.1",
        "GET / HTTP/0.9", "GET / HTTP/1.2", "GET / HTTP/2.0", "GET / http/1.1", "GET / HTTP/1.10",
        "GET /a b HTTP/1.1", "GE(T / HTTP/1.1", "GET http://a/ HTTP/1.1", "GET a HTTP/1.1",
        "CONNECT a:1 HTTP/1.1", "GET /\x01 HTTP/1.1", "GET /\r HTTP/1.1", "\x16\x03\x01"}) {
    EXPECT_EQ(ReasonOf(std::string(line) + "\r\nHost: a\r\n\r\n"), "REQUEST_MALFORMED") << line;
  }
  EXPECT_EQ(ReasonOf("GET / HTTP/1.1\r\n\r\n"), "REQUEST_MALFORMED");
  EXPECT_EQ(ReasonOf("GET / HTTP/1.0\r\n\r\n"), "");
}

TEST(HttpHead, HasBounds) {
  std::string lines;
  for (size_t i = 0; i + 1 < kMaxHeadFields; ++i) lines += "A: b\r\n";
  EXPECT_EQ(ReasonOf(With(lines)), "");
  EXPECT_EQ(ReasonOf(With(lines + "A: b\r\n")), "HEADERS_TOO_LARGE");
  const auto reason = [](const char* begin) { return GetErrorDetail(HeadTooLarge(begin))->reason; };
  EXPECT_EQ(reason("GET /aaa"), "ADDRESS_TOO_LONG");
  EXPECT_EQ(reason("GET / HTTP/1.1\r\nA: "), "HEADERS_TOO_LARGE");
}

TEST(HttpHead, OfAnAnswerHasNoLineThatAHeaderBringsAlong) {
  const HttpAnswer answer{.status = 404,
                          .headers = {{"A", "b"},
                                      {"Evil", "a\r\nSet-Cookie: b"},
                                      {"Worse", "a\nb"},
                                      {"Null", std::string("a\0b", 3)},
                                      {"A", "c"}}};
  const std::string head = FormatHead(answer, /*keep_alive=*/true);
  EXPECT_THAT(head, StartsWith("HTTP/1.1 404 Not Found\r\n"));
  EXPECT_THAT(head, HasSubstr("\r\nA: b\r\nA: c\r\n"));
  EXPECT_THAT(head, EndsWith("\r\n\r\n"));
  for (const char* const word : {"Evil", "Worse", "Null", "Set-Cookie"}) {
    EXPECT_THAT(head, Not(HasSubstr(word)));
  }
  EXPECT_THAT(FormatHead(answer, /*keep_alive=*/false), HasSubstr("\r\nConnection: close\r\n"));
}

}  // namespace
}  // namespace sinkd
