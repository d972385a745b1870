// Outputs of sinkctl, read back.
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>
#include <nlohmann/json.hpp>

#include "tests/client/sinkctl_fixture.h"

namespace sinkd::testing {
namespace {

using google::protobuf::util::MessageDifferencer;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kTwoSamples = "{\"text\": \"a\", \"id\": \"s,0\"}\n{\"text\": \"b\"}\n";

template <typename Message>
Message FromJson(const json& value) {
  Message message;
  const auto status = google::protobuf::util::JsonStringToMessage(value.dump(), &message);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return message;
}

std::vector<json> ParseLines(const std::string& text) {
  std::vector<json> values;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    values.push_back(json::parse(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return values;
}

// The answers of a model with learned sinks: l / 32 of the attention in block l.
grpc::Status AnswerWithLearnedSinks(grpc::ServerContext&, AnalyzeStream& stream) {
  sinks::v1::AnalyzeRequest request;
  stream.Read(&request);
  const sinks::v1::AnalysisSpec spec = request.spec();
  stream.Write(MakeStarted(spec));
  int64_t samples = 0;
  for (; stream.Read(&request); ++samples) {
    sinks::v1::AnalyzeResponse response;
    *response.mutable_record() = MakeRecord(samples, request.sample());
    for (int l = 0; l < kFakeBlocks; ++l) {
      response.mutable_record()->add_learned_sink_mass(static_cast<float>(l) / 32);
    }
    if (!spec.summary_only()) stream.Write(response);
  }
  sinks::v1::AnalyzeResponse response;
  *response.mutable_summary() = MakeSummary(spec, samples, 10 * samples);
  response.mutable_summary()->mutable_learned_sinks()->set_samples(samples);
  for (int l = 0; l < kFakeBlocks; ++l) {
    response.mutable_summary()->mutable_learned_sinks()->add_mass(l / 32.0);
  }
  stream.Write(response);
  return grpc::Status::OK;
}

TEST_F(SinkctlTest, WritesOneJsonDocumentThatReadsBackAsTheMessages) {
  server_.sample_errors[1] =
      MakeError(grpc::StatusCode::INVALID_ARGUMENT, "bad", "EMPTY_SAMPLE", "sample.text");
  const ProcessResult result = RunWithInput({"analyze", "alpha", "--all", "-o", "json"},
                                            std::string(kTwoSamples) + "oops\n");
  EXPECT_EQ(result.exit_code, 4);
  const json document = json::parse(result.out);
  ASSERT_EQ(document["results"].size(), 3u);
  std::vector<std::string> types;
  for (const json& each : document["results"]) types.push_back(each["type"]);
  EXPECT_THAT(types, ::testing::UnorderedElementsAre("record", "sampleError", "badInput"));
  for (const json& each : document["results"]) {
    if (each["type"] == "record") {
      EXPECT_TRUE(MessageDifferencer::Equals(FromJson<sinks::v1::SampleRecord>(each["record"]),
                                             MakeRecord(0, server_.last_samples()[0])));
    } else if (each["type"] == "sampleError") {
      EXPECT_EQ(each["sampleError"]["origin"], "standard input:2");
      EXPECT_EQ(each["sampleError"]["status"]["details"][0]["reason"], "EMPTY_SAMPLE");
    } else {
      EXPECT_EQ(each["badInput"]["line"], 3);
      EXPECT_EQ(each["badInput"]["column"], 1);
    }
  }
  EXPECT_TRUE(MessageDifferencer::Equals(FromJson<sinks::v1::Summary>(document["summary"]),
                                         MakeSummary(server_.last_spec(), 1, 10)));
  EXPECT_EQ(document["started"]["spec"]["model"], "models/alpha");
  EXPECT_EQ(document["outcome"]["exitCode"], 4);
  EXPECT_EQ(document["outcome"]["samplesFailed"], 1);
  EXPECT_EQ(document["outcome"]["badInputs"], 1);
}

TEST_F(SinkctlTest, WritesAWholeJsonDocumentWhenTheStreamFails) {
  server_.analyze = [](grpc::ServerContext&, AnalyzeStream&) {
    return MakeError(grpc::StatusCode::FAILED_PRECONDITION, "alpha is not loaded", "NOT_LOADED");
  };
  const ProcessResult result = Run({"detect", "alpha", "--text", "a", "-o", "json"});
  EXPECT_EQ(result.exit_code, 4);
  const json document = json::parse(result.out);
  EXPECT_TRUE(document["results"].empty());
  EXPECT_EQ(document["outcome"]["error"]["reason"], "NOT_LOADED");
}

TEST_F(SinkctlTest, WritesOneTypedObjectALineAsJsonl) {
  const ProcessResult result = RunWithInput({"detect", "alpha", "-o", "jsonl"}, kTwoSamples);
  EXPECT_EQ(result.exit_code, 0);
  std::vector<std::string> types;
  for (const json& each : ParseLines(result.out)) {
    types.push_back(each["type"]);
    EXPECT_TRUE(each.contains(types.back()));
  }
  EXPECT_THAT(types, ElementsAre("started", "record", "record", "summary", "outcome"));
}

TEST_F(SinkctlTest, WritesSinksAsCsv) {
  for (const char* command : {"detect", "scores"}) {
    const ProcessResult result = RunWithInput({command, "alpha", "-o", "csv"}, kTwoSamples);
    EXPECT_EQ(result.exit_code, 0);
    const auto rows = ParseCsv(result.out);
    ASSERT_EQ(rows.size(), 1u + 2 * 3);
    EXPECT_THAT(std::vector<std::string>(rows[0].begin(), rows[0].begin() + 3),
                ElementsAre("sample_index", "sample_id", "tokens"));
    EXPECT_EQ(rows[1][7], "primary");
    EXPECT_EQ(rows[2][1], "s,0");
    EXPECT_EQ(rows[2][10], "a,\"b\"\n");
    EXPECT_EQ(rows[2][14], "4 5 6 7 8");
    EXPECT_EQ(std::stod(rows[2][16]), 0.0625);
    EXPECT_EQ(rows[3][10], "\\x1b[31m漢字");
  }
}

TEST_F(SinkctlTest, WritesSummariesAsCsv) {
  const auto run = [&](const char* command) {
    return ParseCsv(RunWithInput({command, "alpha", "-o", "csv"}, kTwoSamples).out);
  };
  const auto levels = run("levels");
  EXPECT_THAT(levels[0], ElementsAre("l_start", "lifetime", "kind", "count", "model", "run"));
  EXPECT_THAT(levels[2], ElementsAre("4", "5", "secondary", "4", "models/alpha", ""));
  const auto fits = run("regress");
  ASSERT_EQ(fits.size(), 1u + 8);
  EXPECT_EQ(fits[1][0], "score");
  EXPECT_EQ(fits[1][1], "linear-log");
  EXPECT_EQ(std::stod(fits[1][11]), 0.125);
  EXPECT_EQ(fits[3][4], "n < 3");
  EXPECT_EQ(fits[3][5], "");
  EXPECT_EQ(fits[5][0], "lifetime");
  const auto blocks = run("compensation");
  ASSERT_EQ(blocks.size(), 1u + 12);
  EXPECT_EQ(blocks[7][9], "3");
  const auto rates = run("rate");
  ASSERT_EQ(rates.size(), 1u + 4);
  EXPECT_THAT(rates[1], ElementsAre("0", "0.75", "108", "144", "models/alpha", ""));
  EXPECT_THAT(rates[4], ElementsAre("3", "", "0", "0", "models/alpha", ""));
}

TEST_F(SinkctlTest, NamesModelAndRunInEveryRowOfCsv) {
  for (const char* command : {"detect", "levels", "regress", "compensation", "rate"}) {
    const auto rows =
        ParseCsv(Run({command, "alpha", "--text", "a", "--run", "r,1", "-o", "csv"}).out);
    ASSERT_GT(rows.size(), 1u);
    for (size_t row = 1; row < rows.size(); ++row) {
      EXPECT_EQ(rows[row][rows[row].size() - 2], "models/alpha");
      EXPECT_EQ(rows[row].back(), "runs/r,1");
    }
  }
}

TEST_F(SinkctlTest, WritesAlphaOfEveryPosition) {
  const auto rows =
      ParseCsv(Run({"scores", "alpha", "--text", "a", "--all-positions", "-o", "csv"}).out);
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_THAT(rows[2], ElementsAre("0", "2", "1", "1", "0.25", "models/alpha", ""));
  EXPECT_THAT(rows[4], ElementsAre("0", "2", "2", "1", "", "models/alpha", ""));
  const auto lines =
      ParseLines(Run({"scores", "alpha", "--text", "a", "--all-positions", "-o", "jsonl"}).out);
  EXPECT_EQ(lines[1]["alpha"]["values"][3], "NaN");
}

TEST_F(SinkctlTest, WritesTheMassOfLearnedSinks) {
  server_.analyze = AnswerWithLearnedSinks;
  const auto sinks = ParseCsv(RunWithInput({"scores", "alpha", "-o", "csv"}, kTwoSamples).out);
  EXPECT_EQ(sinks[0][23], "learned_sink_mass");
  for (size_t row = 1; row < sinks.size(); ++row) {
    EXPECT_THAT(sinks[row][23], ::testing::StartsWith("0 0.03125 0.0625 0.09375 "));
  }
  const auto blocks = ParseCsv(Run({"compensation", "alpha", "--text", "a", "-o", "csv"}).out);
  EXPECT_EQ(blocks[0][13], "learned_sink_mass");
  EXPECT_EQ(blocks[1][13], "0");
  EXPECT_EQ(blocks[12][13], "0.34375");
  const json document = json::parse(Run({"scores", "alpha", "--text", "a", "-o", "json"}).out);
  EXPECT_EQ(document["results"][0]["record"]["learnedSinkMass"][4], 0.125);
  EXPECT_EQ(document["summary"]["learnedSinks"]["mass"][4], 0.125);
  const auto lines = ParseLines(Run({"scores", "alpha", "--text", "a", "-o", "jsonl"}).out);
  EXPECT_EQ(lines[1]["record"]["learnedSinkMass"].size(), 12u);
}

// The answers of a model of which only blocks 3 and 7 have attention, and that is gated.
grpc::Status AnswerOfTwoBlocksWithAttention(grpc::ServerContext&, AnalyzeStream& stream) {
  sinks::v1::AnalyzeRequest request;
  stream.Read(&request);
  const sinks::v1::AnalysisSpec spec = request.spec();
  stream.Write(MakeStarted(spec));
  int64_t samples = 0;
  for (; stream.Read(&request); ++samples) {
    sinks::v1::AnalyzeResponse response;
    *response.mutable_record() = MakeRecord(samples, request.sample());
    for (const int32_t block : {3, 7}) response.mutable_record()->add_attention_blocks(block);
    if (!spec.summary_only()) stream.Write(response);
  }
  sinks::v1::AnalyzeResponse response;
  sinks::v1::Summary& summary = *response.mutable_summary();
  summary = MakeSummary(spec, samples, 10 * samples);
  for (int l = 0; l < kFakeBlocks; ++l) {
    if (l == 3 || l == 7 || summary.compensation().blocks_size() == 0) continue;
    sinks::v1::BlockCompensation& block = *summary.mutable_compensation()->mutable_blocks(l);
    const double norm = block.primary_norm();
    block.Clear();
    block.set_primary_norm(norm);
  }
  for (const int32_t block : {3, 7}) summary.add_attention_blocks(block);
  sinks::v1::GateReport& gates = *summary.mutable_gates();
  gates.set_heads(2);
  for (const double gate : {0.5, 0.25, 1.0, 0.75}) gates.add_all(gate);
  for (const double gate : {0.125, 0.25, 0.5, 0.5}) gates.add_primary(gate);
  stream.Write(response);
  return grpc::Status::OK;
}

TEST_F(SinkctlTest, LeavesBlocksWithoutAttentionEmptyAndShowsGates) {
  server_.analyze = AnswerOfTwoBlocksWithAttention;
  const auto sinks = ParseCsv(RunWithInput({"scores", "alpha", "-o", "csv"}, kTwoSamples).out);
  EXPECT_EQ(sinks[0][22], "attention_blocks");
  EXPECT_EQ(sinks[1][22], "3 7");
  const auto blocks = ParseCsv(Run({"compensation", "alpha", "--text", "a", "-o", "csv"}).out);
  EXPECT_THAT(blocks[0], ::testing::Contains("gate_secondary"));
  const auto gates_of = [&](size_t block) {
    const auto& row = blocks[block + 1];
    return std::vector<std::string>(row.begin() + 10, row.begin() + 13);
  };
  EXPECT_THAT(gates_of(3), ::testing::ElementsAre("0.375", "0.1875", ""));
  EXPECT_THAT(gates_of(7), ::testing::ElementsAre("0.875", "0.5", ""));
  EXPECT_THAT(gates_of(4), ::testing::Each(""));
  EXPECT_EQ(blocks[5][1], "");  // primary of block 4
  EXPECT_NE(blocks[5][8], "");  // its norm
  const std::string shown = Run({"compensation", "alpha", "--text", "a"}).out;
  EXPECT_THAT(shown, HasSubstr("gates: how much of attention's output is let through"));
  EXPECT_THAT(shown, ::testing::ContainsRegex("3 +0\\.3750.* 0\\.1875 +-"));
}

TEST_F(SinkctlTest, LeavesTheMassOfLearnedSinksEmptyForOtherModels) {
  const auto sinks = ParseCsv(Run({"scores", "alpha", "--text", "a", "-o", "csv"}).out);
  EXPECT_EQ(sinks[1][23], "");
  const auto blocks = ParseCsv(Run({"compensation", "alpha", "--text", "a", "-o", "csv"}).out);
  EXPECT_EQ(blocks[1][13], "");
  EXPECT_THAT(Run({"analyze", "alpha", "--all", "--text", "a"}).out,
              Not(HasSubstr("learned sinks")));
}

TEST_F(SinkctlTest, AsksForRecordsOnlyWhereTheyAreShown) {
  EXPECT_EQ(ParseLines(Run({"levels", "alpha", "--text", "a", "-o", "jsonl"}).out).size(), 3u);
  EXPECT_EQ(
      ParseLines(Run({"levels", "alpha", "--text", "a", "-o", "jsonl", "--records"}).out).size(),
      4u);
  EXPECT_EQ(ParseLines(Run({"detect", "alpha", "--text", "a", "-o", "jsonl", "--summary-only"}).out)
                .size(),
            3u);
}

TEST_F(SinkctlTest, ShowsSinksAsATableWithoutControlCharacters) {
  const ProcessResult result = RunWithInput({"scores", "alpha", "--curves"}, kTwoSamples);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, IsEmpty());
  EXPECT_THAT(result.out, HasSubstr("sample 0  \"s,0\"  10 tokens  window [1, 11)"));
  EXPECT_THAT(result.out, HasSubstr("\"a,\\\"b\\\"\\n\""));
  EXPECT_THAT(result.out, HasSubstr("\"\\x1b[31m漢字\""));
  EXPECT_THAT(result.out, HasSubstr("0.7500"));
  EXPECT_THAT(Run({"detect", "alpha", "--text", "a"}).out, HasSubstr("0.0625"));
  EXPECT_THAT(result.out, HasSubstr("a note of the server"));
  EXPECT_THAT(result.out, Not(HasSubstr("\x1b")));
}

TEST_F(SinkctlTest, ShowsTheMassOfLearnedSinksWhereAttentionIsShown) {
  server_.analyze = AnswerWithLearnedSinks;
  constexpr const char* kHeading = "learned sinks: share of the attention that goes to no position";
  const std::string scores = RunWithInput({"scores", "alpha"}, kTwoSamples).out;
  EXPECT_THAT(scores, HasSubstr("learned sinks take 0.1719 of the attention, by block "));
  EXPECT_THAT(scores, HasSubstr(kHeading));
  EXPECT_THAT(scores, HasSubstr("0.1250"));
  EXPECT_THAT(Run({"analyze", "alpha", "--all", "--text", "a"}).out, HasSubstr(kHeading));
  EXPECT_THAT(Run({"compensation", "alpha", "--text", "a"}).out, HasSubstr(kHeading));
  const std::string bare = Run({"scores", "alpha", "--text", "a", "--no-chart"}).out;
  EXPECT_THAT(bare, HasSubstr("learned sinks take 0.1719 of the attention\n"));
  EXPECT_THAT(Run({"detect", "alpha", "--text", "a"}).out, Not(HasSubstr("learned sinks")));
}

TEST_F(SinkctlTest, ShowsEveryReportOfOnePass) {
  const ProcessResult result = RunWithInput({"analyze", "alpha", "--all"}, kTwoSamples);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* text :
       {"scores: mean attention", "levels (first layer, lifetime)", "(4, 5)", "first layer",
        "score (y) against MLP norm (x)", "y = a + b ln x", "undefined, n < 3", "zero variance",
        "29 points left out", "MLP norm at the first layer", "compensation", "[0.5400, 0.5600]",
        "sink rate", "0.7500"}) {
    EXPECT_THAT(result.out, HasSubstr(text));
  }
  EXPECT_TRUE(server_.last_spec().regression().points()) << "the chart needs them";
}

TEST_F(SinkctlTest, LeavesChartsOutWhenAsked) {
  const ProcessResult result =
      RunWithInput({"analyze", "alpha", "--all", "--no-chart"}, kTwoSamples);
  EXPECT_THAT(result.out, Not(HasSubstr("█")));
  EXPECT_FALSE(server_.last_spec().regression().points());
  const ProcessResult ascii = RunWithInput({"levels", "alpha", "--ascii"}, kTwoSamples);
  EXPECT_THAT(ascii.out, HasSubstr("####"));
  EXPECT_THAT(ascii.out, Not(HasSubstr("█")));
}

}  // namespace
}  // namespace sinkd::testing
