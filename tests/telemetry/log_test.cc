#include "server/telemetry/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "server/telemetry/sparse_log.h"

namespace sinkd {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

// 2026-01-02T03:04:05.678Z
constexpr std::chrono::system_clock::time_point kTime{std::chrono::milliseconds(1767323045678)};

std::string Line(LogFormat format, std::string_view message,
                 std::initializer_list<LogField> fields = {}) {
  return FormatLogLine(format, kTime, LogLevel::kInfo, message,
                       std::span<const LogField>(fields.begin(), fields.size()));
}

TEST(LogLine, ReadsAsTextForAPerson) {
  EXPECT_EQ(
      Line(LogFormat::kText, "model loaded",
           {{"model", "tiny"}, {"seconds", 1.25}, {"bytes", 42}, {"warm", true}}),
      "2026-01-02T03:04:05.678Z info model loaded model=tiny seconds=1.25 bytes=42 warm=true");
}

TEST(LogLine, QuotesTextValuesThatWouldReadAsSeveral) {
  EXPECT_EQ(
      Line(LogFormat::kText, "m", {{"a", "x y"}, {"b", ""}, {"c", "k=v"}, {"d", "say \"hi\""}}),
      "2026-01-02T03:04:05.678Z info m a=\"x y\" b=\"\" c=\"k=v\" d=\"say \\\"hi\\\"\"");
}

TEST(LogLine, IsOneJsonObjectWithTypedValues) {
  const json line = json::parse(Line(LogFormat::kJson, "call done",
                                     {{"request_id", "r-1"},
                                      {"code", std::string("OK")},
                                      {"seconds", std::chrono::milliseconds(1500)},
                                      {"samples", size_t{7}},
                                      {"cancelled", false}}));
  EXPECT_EQ(line, json({{"time", "2026-01-02T03:04:05.678Z"},
                        {"level", "info"},
                        {"message", "call done"},
                        {"request_id", "r-1"},
                        {"code", "OK"},
                        {"seconds", 1.5},
                        {"samples", 7},
                        {"cancelled", false}}));
}

TEST(LogLine, WritesNumbersThatJsonCannotHoldAsStrings) {
  const json line = json::parse(Line(LogFormat::kJson, "m",
                                     {{"a", std::numeric_limits<double>::infinity()},
                                      {"b", std::numeric_limits<double>::quiet_NaN()},
                                      {"c", 1e300},
                                      {"d", std::numeric_limits<int64_t>::min()}}));
  EXPECT_EQ(line["a"], "inf");
  EXPECT_EQ(line["b"], "nan");
  EXPECT_EQ(line["c"], 1e300);
  EXPECT_EQ(line["d"], std::numeric_limits<int64_t>::min());
}

struct HostileCase {
  const char* name;
  std::string value;
  std::string seen;  // by a JSON parser
};

class HostileValues : public testing::TestWithParam<HostileCase> {};

TEST_P(HostileValues, StayInsideTheirLine) {
  const std::string& value = GetParam().value;
  const json parsed = json::parse(Line(LogFormat::kJson, value, {{"key", value}}));
  EXPECT_EQ(parsed["key"], GetParam().seen);
  EXPECT_EQ(parsed["message"], GetParam().seen);
  for (const LogFormat format : {LogFormat::kText, LogFormat::kJson}) {
    const std::string line = Line(format, value, {{"key", value}});
    for (const char c : line) {
      const auto byte = static_cast<unsigned char>(c);
      EXPECT_TRUE(byte >= 0x20 && byte != 0x7f) << line;
    }
    for (const char* forbidden :
         {"\xC2\x9B", "\u202e", "\u2028", "\u2066", "\uFFFE", "\U000E0041"}) {
      EXPECT_EQ(line.find(forbidden), std::string::npos) << line;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, HostileValues,
    testing::Values(HostileCase{"NewLine", "a\nb", "a\nb"},
                    HostileCase{"ForgedLine", "x\r\n2026-01-01T00:00:00.000Z info forged",
                                "x\r\n2026-01-01T00:00:00.000Z info forged"},
                    HostileCase{"Escape", "\x1b[31mred", "\x1b[31mred"},
                    HostileCase{"Nul", std::string("a\0b", 3), std::string("a\0b", 3)},
                    HostileCase{"Quote", R"(","level":"error)", R"(","level":"error)"},
                    HostileCase{"Backslash", R"(a\)", R"(a\)"},
                    HostileCase{"Delete", "a\x7f", "a\x7f"},
                    HostileCase{"C1Control", "a\xC2\x9Bm", "a\xC2\x9Bm"},
                    HostileCase{"RightToLeft", "a\u202e\u2066gpj.exe", "a\u202e\u2066gpj.exe"},
                    HostileCase{"LineSeparator", "a\u2028b", "a\u2028b"},
                    HostileCase{"Noncharacter", "a\uFFFEb", "a\uFFFEb"},
                    HostileCase{"PastTheBasicPlane", "\U000E0041\U0001F600",
                                "\U000E0041\U0001F600"},
                    HostileCase{"NotUtf8",
                                "a\xff\xfe"
                                "b",
                                "a\uFFFD\uFFFDb"},
                    HostileCase{"CutUtf8", "a\xE2\x82", "a\uFFFD\uFFFD"},
                    HostileCase{"Unicode", "caf\u00e9 \u20ac", "caf\u00e9 \u20ac"}),
    [](const auto& one) { return std::string(one.param.name); });

class LogTest : public testing::Test {
 protected:
  LogTest() {
    SetLogWriter([this](std::string_view line) { lines_.emplace_back(line); });
  }
  ~LogTest() override {
    SetLogWriter({});
    ConfigureLog(LogFormat::kText, LogLevel::kInfo);
  }
  std::vector<std::string> lines_;
};

TEST_F(LogTest, LeavesOutWhatIsBelowTheLevel) {
  ConfigureLog(LogFormat::kText, LogLevel::kWarning);
  Log(LogLevel::kInfo, "quiet");
  Log(LogLevel::kWarning, "loud", {{"n", 1}});
  Log(LogLevel::kError, "louder");
  EXPECT_THAT(lines_, ElementsAre(HasSubstr(" warning loud n=1"), HasSubstr(" error louder")));
}

TEST_F(LogTest, KeepsLinesOfManyThreadsApart) {
  ConfigureLog(LogFormat::kJson, LogLevel::kDebug);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([i] {
      for (int k = 0; k < 100; ++k) Log(LogLevel::kDebug, "line", {{"thread", i}, {"k", k}});
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lines_.size(), 800u);
  for (const std::string& line : lines_) EXPECT_TRUE(json::accept(line)) << line;
}

TEST(LogToStderr, WritesOneLineAnEvent) {
  testing::internal::CaptureStderr();
  Log(LogLevel::kError, "broken {} %s", {{"code", "INTERNAL"}});
  const std::string written = testing::internal::GetCapturedStderr();
  EXPECT_THAT(written, HasSubstr(" error broken {} %s code=INTERNAL\n"));
  EXPECT_EQ(std::count(written.begin(), written.end(), '\n'), 1);
}

TEST(SparseLog, IsOneLineInAWhileThatTellsHowOften) {
  std::vector<std::string> lines;
  SetLogWriter([&lines](std::string_view line) { lines.emplace_back(line); });
  SparseLog log{std::chrono::seconds(60)};
  const SparseLog::Clock::time_point begin{std::chrono::hours(1)};
  for (const int second : {0, 1, 2, 59, 60, 61, 119, 300}) {
    log.Note(LogLevel::kWarning, "again", {{"second", second}},
             begin + std::chrono::seconds(second));
  }
  SetLogWriter({});
  EXPECT_THAT(lines, ElementsAre(testing::EndsWith("warning again second=0 times=1"),
                                 testing::EndsWith("warning again second=60 times=4"),
                                 testing::EndsWith("warning again second=300 times=3")));
}

}  // namespace
}  // namespace sinkd
