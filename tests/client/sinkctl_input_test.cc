// Inputs of sinkctl: formats, bad lines, flat memory.
#include "tests/client/sinkctl_fixture.h"

namespace sinkd::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct BadInputCase {
  const char* name;
  std::string line;
  const char* message;  // after "standard input:2"
};

void PrintTo(const BadInputCase& bad, std::ostream* out) {
  *out << bad.name;
}

class SinkctlBadInput : public SinkctlTest, public ::testing::WithParamInterface<BadInputCase> {};

TEST_P(SinkctlBadInput, IsReportedWithItsPlaceAndTheRunGoesOn) {
  const std::string input =
      "{\"text\": \"first\"}\n" + GetParam().line + "\n{\"text\": \"last\"}\n";
  const ProcessResult result = RunWithInput({"detect", "alpha"}, input);
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr(std::string("sinkctl: standard input:2") + GetParam().message));
  EXPECT_THAT(result.err, HasSubstr("1 of 3 samples failed"));
  EXPECT_EQ(server_.last_samples().size(), 2u);
  EXPECT_EQ(server_.last_samples().back().text().text(), "last");
}

TEST_P(SinkctlBadInput, EndsTheRunAtOnceWithFailFast) {
  const std::string input = GetParam().line + "\n{\"text\": \"last\"}\n";
  const ProcessResult result =
      RunWithInput({"detect", "alpha", "--fail-fast", "--input-format", "jsonl"}, input);
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_EQ(server_.samples_received, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Table, SinkctlBadInput,
    ::testing::Values(
        BadInputCase{"PlainWords", "hello", ":1: not JSON"},
        BadInputCase{"CutOff", "{\"text\": \"a", ":12: not JSON"},
        BadInputCase{"NoBrace", "{\"text\": \"a\"", ":13: not JSON"},
        BadInputCase{"TrailingComma", "{\"text\": \"a\",}", ":14: not JSON"},
        BadInputCase{"TwoValues", "{\"text\": \"a\"} {}", ":15: not JSON"},
        BadInputCase{"SingleQuotes", "{'text': 'a'}", ":2: not JSON"},
        BadInputCase{"NaN", "{\"token_ids\": [NaN]}", ":16: not JSON"},
        BadInputCase{"Infinity", "{\"token_ids\": [Infinity]}", ":16: not JSON"},
        BadInputCase{"Comment", "// {\"text\": \"a\"}", ":1: not JSON"},
        BadInputCase{"Array", "[1, 2]", ":1: the line is an array"},
        BadInputCase{"Null", "null", ":1: the line is null"},
        BadInputCase{"Empty", "{}", ":1: the object has no input"},
        BadInputCase{"TypedWrong", "{\"text\": 1}", ":10: \"text\" is a number"},
        BadInputCase{"TwoInputs", "{\"text\": \"a\", \"token_ids\": [1]}", ":1: the object has 2"},
        BadInputCase{"DuplicateKey", "{\"text\": \"a\", \"text\": \"b\"}", ":15: key \"text\""},
        BadInputCase{"UnknownKey", "{\"txt\": \"a\"}", ":2: unknown key \"txt\""},
        BadInputCase{"LoneResponse", "{\"response\": \"a\"}", ":1: \"response\" needs"},
        BadInputCase{"FloatId", "{\"token_ids\": [1.5]}", ":16: \"token_ids\"[0] is 1.5"},
        BadInputCase{"NegativeId", "{\"token_ids\": [-4]}", ":16: \"token_ids\"[0] is -4"},
        BadInputCase{"LargeId", "{\"token_ids\": [4294967296]}", ":16: \"token_ids\"[0] is 4294"},
        BadInputCase{"HugeId", "{\"token_ids\": [1e400]}", ":20: not JSON"},
        BadInputCase{"StringId", "{\"token_ids\": [\"1\"]}", ":16: \"token_ids\"[0] is the string"},
        BadInputCase{"NestedIds", "{\"token_ids\": [[1]]}", ":16: \"token_ids\"[0] is an array"},
        BadInputCase{"Deep", std::string(200'000, '['), ":1: the line is an array"},
        BadInputCase{"NoRole", "{\"messages\": [{\"content\": \"a\"}]}",
                     ":30: \"messages\"[0] has"},
        BadInputCase{"BadUtf8", "{\"text\": \"a\xff\"}", ":12: byte 0xff is not UTF-8"},
        BadInputCase{"Overlong", "{\"text\": \"\xc0\xaf\"}", ":11: byte 0xc0 is not UTF-8"},
        BadInputCase{"LoneSurrogate", "{\"text\": \"\\udc00\"}", ":16: not JSON"},
        BadInputCase{"RawControl", "{\"text\": \"a\x01\"}", ":12: not JSON"},
        BadInputCase{"Escape", "\x1b[2J", ":1: not JSON"},
        BadInputCase{"LongId", "{\"id\": \"" + std::string(257, 'x') + "\", \"text\": \"a\"}",
                     ": the id has 257 bytes"},
        BadInputCase{"LargeSample", "{\"text\": \"" + std::string(4 << 20, 'x') + "\"}",
                     ": the sample has"},
        BadInputCase{"LongLine", "{\"text\": \"" + std::string(25 << 20, 'x') + "\"}",
                     ": the line is longer than"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(SinkctlTest, NeverPassesControlCharactersOfTheInputOn) {
  const ProcessResult result =
      RunWithInput({"detect", "alpha", "--input-format", "jsonl"}, "\x1b[2J\n{\"\x1b]0;x\": 1}\n");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, Not(HasSubstr("\x1b")));
}

TEST_F(SinkctlTest, ReadsEveryKindOfJsonlLine) {
  const ProcessResult result =
      RunWithInput({"detect", "alpha"},
                   "\xEF\xBB\xBF{\"text\": \"a\", \"id\": 7}\r\n\r\n"
                   "{\"prompt\": \"p\", \"response\": \"r\", \"raw\": true}\r\n"
                   "{\"messages\": [{\"role\": \"user\", \"content\": \"c\"}], "
                   "\"add_generation_prompt\": true}\n"
                   "{\"token_ids\": [1, 2], \"chat_rendered\": true}");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto samples = server_.last_samples();
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_EQ(samples[0].sample_id(), "7");
  EXPECT_EQ(samples[1].prompt_response().response(), "r");
  EXPECT_TRUE(samples[2].chat().add_generation_prompt());
  EXPECT_TRUE(samples[3].token_ids().chat_rendered());
}

TEST_F(SinkctlTest, ReadsPlainTextWholeOrByLines) {
  const std::string path = WriteFile("prompt.txt", "one\r\ntwo\r\n");
  EXPECT_EQ(Run({"detect", "alpha", "-i", path}).exit_code, 0);
  ASSERT_EQ(server_.last_samples().size(), 1u);
  EXPECT_EQ(server_.last_samples()[0].text().text(), "one\r\ntwo");
  EXPECT_EQ(server_.last_samples()[0].sample_id(), "prompt.txt");
  EXPECT_EQ(Run({"detect", "alpha", "-i", path, "--lines"}).exit_code, 0);
  ASSERT_EQ(server_.last_samples().size(), 2u);
  EXPECT_EQ(server_.last_samples()[1].text().text(), "two");
  EXPECT_EQ(RunWithInput({"detect", "alpha"}, "from a pipe\n").exit_code, 0);
  EXPECT_EQ(server_.last_samples()[0].text().text(), "from a pipe");
}

TEST_F(SinkctlTest, ReadsSeveralInputsInOrder) {
  const std::string path = WriteFile("a.jsonl", "{\"text\": \"file\"}\n");
  const ProcessResult result =
      RunWithInput({"detect", "alpha", "--text", "t1", "--text", "t2", "-i", path, "-i", "-"},
                   "{\"text\": \"in\"}");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::vector<std::string> texts;
  for (const auto& sample : server_.last_samples()) texts.push_back(sample.text().text());
  EXPECT_THAT(texts, ::testing::ElementsAre("t1", "t2", "file", "in"));
}

TEST_F(SinkctlTest, ExitsWith2WithoutAskingTheServerWhenThereIsNoSample) {
  for (const char* input : {"", "\n\n \r\n"}) {
    const ProcessResult result =
        RunWithInput({"detect", "alpha", "--input-format", "jsonl"}, input);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("the input has no samples"));
  }
  EXPECT_EQ(server_.samples_received, 0);
}

TEST_F(SinkctlTest, StreamsAFileInFlatMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's allocator keeps freed memory";
#endif
  server_.analyze = [](grpc::ServerContext&, AnalyzeStream& stream) {
    sinks::v1::AnalyzeRequest request;
    stream.Read(&request);
    stream.Write(MakeStarted(request.spec()));
    sinks::v1::AnalyzeResponse response;
    int64_t index = 0;
    while (stream.Read(&request)) {
      *response.mutable_record() = MakeRecord(index++, request.sample());
      stream.Write(response);
    }
    *response.mutable_summary() = MakeSummary({}, index, index);
    stream.Write(response);
    return grpc::Status::OK;
  };
  const std::string line = "{\"text\": \"" + std::string(5'500, 'x') + "\"}\n";
  std::string small;
  for (int i = 0; i < 200; ++i) small += line;  // 1.1 MB
  const std::string small_path = WriteFile("small.jsonl", small);
  const ProcessResult small_result = Run({"detect", "alpha", "-i", small_path, "-o", "json"});
  EXPECT_EQ(small_result.exit_code, 0) << small_result.err;
  std::string large;
  for (int i = 0; i < 10'000; ++i) large += line;  // 55 MB
  const std::string large_path = WriteFile("large.jsonl", large);
  const ProcessResult result = Run({"detect", "alpha", "-i", large_path, "-o", "json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::printf("peak memory: %.1f MB for 1.1 MB of input, %.1f MB for 55 MB\n",
              static_cast<double>(small_result.peak_memory) / 1e6,
              static_cast<double>(result.peak_memory) / 1e6);
  EXPECT_LT(result.peak_memory - small_result.peak_memory, 16 << 20);
}

}  // namespace
}  // namespace sinkd::testing
