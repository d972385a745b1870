// sinkctl and stored runs: `runs ...`, and analyses that keep one.
#include <unistd.h>

#include <fstream>

#include <nlohmann/json.hpp>

#include "tests/client/sinkctl_fixture.h"

namespace sinkd::testing {
namespace {

namespace v1 = ::sinks::v1;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::vector<std::string> Ids(const std::vector<v1::Sample>& samples) {
  std::vector<std::string> ids;
  for (const v1::Sample& sample : samples) ids.push_back(sample.sample_id());
  return ids;
}

TEST_F(SinkctlTest, ListsRunsInEveryFormat) {
  server_.runs.runs.push_back(server_.runs.runs.front());
  server_.runs.runs.back().set_name("runs/third");
  EXPECT_EQ(Run({"runs", "list", "--names"}).out, "alpha-1\nbeta-1\nthird\n");
  const ProcessResult table = Run({"runs", "list"});
  EXPECT_THAT(table.out, HasSubstr("2026-01-01 00:00:00"));
  EXPECT_THAT(table.out, HasSubstr("1,234"));
  EXPECT_THAT(table.out, HasSubstr("branch=main"));
  const auto rows = ParseCsv(Run({"runs", "list", "-o", "csv"}).out);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0][0], "name");
  EXPECT_EQ(rows[1][2], "open");
  const json list = json::parse(Run({"runs", "list", "-o", "json"}).out);
  EXPECT_EQ(list["runs"].size(), 3u);
  EXPECT_EQ(list["runs"][0]["samples"], "1234");
  const auto lines = Lines(Run({"runs", "list", "-o", "jsonl"}).out);
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_EQ(json::parse(lines[2])["run"]["name"], "runs/third");
}

TEST_F(SinkctlTest, AnEmptyListOfRunsIsOneInEveryFormat) {
  server_.runs.runs.clear();
  EXPECT_THAT(Run({"runs", "list"}).out, HasSubstr("no such runs"));
  EXPECT_EQ(json::parse(Run({"runs", "list", "-o", "json"}).out)["runs"].size(), 0u);
  EXPECT_EQ(Run({"runs", "list", "-o", "jsonl"}).out, "");
  EXPECT_EQ(ParseCsv(Run({"runs", "list", "-o", "csv"}).out).size(), 1u);
}

TEST_F(SinkctlTest, SendsTheFilterOfAList) {
  EXPECT_EQ(Run({"runs", "list", "--model", "alpha", "--label", "a=b=c", "--label", "d=", "--since",
                 "2026-01-31", "--before", "2026-02-01T12:00:00.5Z"})
                .exit_code,
            0);
  const v1::RunFilter filter = server_.runs.list_request().filter();
  EXPECT_EQ(filter.model(), "models/alpha");
  EXPECT_EQ(filter.labels().at("a"), "b=c");
  EXPECT_EQ(filter.labels().at("d"), "");
  EXPECT_EQ(filter.created_from().seconds(), 1'769'817'600);
  EXPECT_EQ(filter.created_before().seconds(), 1'769'947'200);
  EXPECT_EQ(filter.created_before().nanos(), 500'000'000);
}

TEST_F(SinkctlTest, ShowsCompletesAndDeletesRuns) {
  EXPECT_THAT(Run({"runs", "show", "beta-1"}).out, HasSubstr("\"levels\":{}"));
  EXPECT_EQ(json::parse(Run({"runs", "show", "runs/beta-1", "-o", "json"}).out)["name"],
            "runs/beta-1");
  EXPECT_THAT(Run({"runs", "complete", "alpha-1", "beta-1"}).out, HasSubstr("complete"));
  EXPECT_EQ(server_.runs.runs[1].state(), v1::RUN_STATE_COMPLETE);
  EXPECT_EQ(Run({"runs", "delete", "alpha-1"}).exit_code, 0);
  EXPECT_EQ(Run({"runs", "list", "--names"}).out, "beta-1\n");
  const ProcessResult gone = Run({"runs", "show", "alpha-1"});
  EXPECT_EQ(gone.exit_code, 4);
  EXPECT_THAT(gone.err, HasSubstr("RUN_NOT_FOUND"));
}

TEST_F(SinkctlTest, WhatIsExportedIsSentWhenItIsImported) {
  const ProcessResult exported = Run({"runs", "export", "alpha-1", "--token-ids"});
  EXPECT_TRUE(server_.runs.records_request().include_token_ids());
  EXPECT_EQ(server_.runs.records_request().name(), "runs/alpha-1");
  const ProcessResult imported =
      Run({"runs", "import", "copy", WriteFile("run.jsonl", exported.out), "--label", "x=y"});
  EXPECT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_THAT(imported.err, HasSubstr("2 records stored"));
  const auto requests = server_.runs.import_requests();
  ASSERT_THAT(requests, SizeIs(2));
  const v1::ImportHeader& header = requests[0].header();
  EXPECT_EQ(header.run_id(), "copy");
  EXPECT_EQ(header.format(), v1::IMPORT_FORMAT_RECORDS);
  EXPECT_EQ(header.spec().SerializeAsString(), server_.runs.runs[0].spec().SerializeAsString());
  EXPECT_EQ(header.labels().at("x"), "y");
  ASSERT_EQ(requests[1].records_size(), 2);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(requests[1].records(i).SerializeAsString(),
              server_.runs.records[static_cast<size_t>(i)].SerializeAsString());
  }
}

TEST_F(SinkctlTest, SaysWhatAFilterThatNoRunMeetsMayHaveMeant) {
  server_.runs.runs.clear();
  const ProcessResult result = Run({"runs", "list", "--label", "a=c"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "no such runs\n");
  EXPECT_EQ(result.err, "sinkctl: no run meets the filter; did you mean the label a=\\x1b[31mb?\n");
  EXPECT_EQ(Run({"runs", "list", "--label", "a=c", "--quiet"}).err, "");
}

TEST_F(SinkctlTest, ExportsAsOneDocumentOrAsATable) {
  const json document = json::parse(Run({"runs", "export", "alpha-1", "-o", "json"}).out);
  EXPECT_EQ(document["run"]["name"], "runs/alpha-1");
  EXPECT_EQ(document["records"][1]["error"]["status"]["message"], "too long");
  const auto rows = ParseCsv(Run({"runs", "export", "alpha-1", "-o", "csv"}).out);
  ASSERT_EQ(rows.size(), 2u + static_cast<size_t>(server_.runs.records[0].record().sinks_size()));
  EXPECT_EQ(rows[1][7], "primary");
}

TEST_F(SinkctlTest, SendsPublishedRowsAsTheyAre) {
  const std::string row = R"({"candidate_sinks": {}, "sample_index": 0})";
  const std::string file = WriteFile("rows.jsonl", row + "\n\n" + row + "\n");
  const ProcessResult result = Run({"runs", "import", "rows", file, "--model", "deep", "--layers",
                                    "48", "--kind-rule", "published"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto requests = server_.runs.import_requests();
  ASSERT_THAT(requests, SizeIs(2));
  EXPECT_EQ(requests[0].header().format(), v1::IMPORT_FORMAT_PUBLISHED_ROWS);
  EXPECT_EQ(requests[0].header().layers(), 48);
  EXPECT_EQ(requests[0].header().spec().model(), "models/deep");
  EXPECT_TRUE(requests[0].header().spec().has_levels());
  EXPECT_EQ(requests[0].header().spec().detection().kind_rule(), v1::KIND_RULE_PUBLISHED);
  EXPECT_THAT(requests[1].lines(), ElementsAre(row, row));
  const ProcessResult nameless = Run({"runs", "import", "rows", file});
  EXPECT_EQ(nameless.exit_code, 2);
  EXPECT_THAT(nameless.err, HasSubstr("--model and --layers"));
}

TEST_F(SinkctlTest, NamesTheLineThatCannotBeImported) {
  const std::string good = Lines(Run({"runs", "export", "alpha-1"}).out)[0];
  const std::string file =
      WriteFile("run.jsonl", good + "\n{\"storedRecord\": {\"sequence\": []}}\n");
  const ProcessResult result = Run({"runs", "import", "copy", file});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("run.jsonl:2: "));
  EXPECT_THAT(Run({"runs", "import", "copy", WriteFile("x.jsonl", "{}\n")}).err,
              HasSubstr("x.jsonl:1: not an object with \"run\""));
  EXPECT_THAT(Run({"runs", "import", "copy", WriteFile("e.jsonl", "")}).err, HasSubstr("is empty"));
  EXPECT_EQ(Run({"runs", "import", "copy", "/nowhere"}).exit_code, 2);
}

TEST_F(SinkctlTest, SumsUpRunsInEveryFormat) {
  const ProcessResult table = Run({"runs", "summarize", "alpha-1", "--label", "branch=main", "--by",
                                   "label:branch", "--l-start", "3", "--levels"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("runs/beta-1: 1 run\n"));
  EXPECT_THAT(table.out, HasSubstr("levels (first layer, lifetime)"));
  const v1::SummarizeRunsRequest request = server_.runs.summarize_request();
  EXPECT_THAT(request.names(), ElementsAre("runs/alpha-1"));
  EXPECT_EQ(request.filter().labels().at("branch"), "main");
  EXPECT_EQ(request.grouping(), v1::SUMMARY_GROUPING_LABEL);
  EXPECT_EQ(request.label(), "branch");
  EXPECT_EQ(request.l_start(), 3);
  EXPECT_FALSE(request.has_lifetime());
  EXPECT_TRUE(request.spec().has_levels());
  EXPECT_FALSE(request.spec().has_scores());

  const json all = json::parse(Run({"runs", "summarize", "--all", "-o", "json"}).out);
  EXPECT_EQ(all["summaries"].size(), 1u);
  EXPECT_FALSE(server_.runs.summarize_request().has_spec());
  const auto lines = Lines(Run({"runs", "summarize", "--all", "--by", "run", "-o", "jsonl"}).out);
  EXPECT_EQ(json::parse(lines[1])["runSummary"]["group"], "runs/beta-1");
  const auto rows = ParseCsv(Run({"runs", "summarize", "--all", "-o", "csv"}).out);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1][2], "3");
}

TEST_F(SinkctlTest, ShowsSummariesInNumericOrderAsASeries) {
  const std::vector<std::string> command = {"runs",       "summarize", "--all",  "--by",
                                            "label:step", "--order",   "numeric"};
  const ProcessResult table = Run(command);
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_EQ(server_.runs.summarize_request().order(), v1::SUMMARY_ORDER_NUMERIC);
  const std::vector<std::string> lines = Lines(table.out);
  ASSERT_EQ(lines.size(), 8u) << table.out;
  EXPECT_THAT(lines[0], MatchesRegex(" +step +runs +samples +share of samples with secondary +"
                                     "entropy"));
  EXPECT_THAT(lines[1], MatchesRegex(" +512 +1 +3 +0.1250 +-"));
  EXPECT_THAT(lines[2], MatchesRegex(" +1e3 +1 +3 +0.7500 +1.5000"));
  EXPECT_EQ(lines[4], "change points");
  EXPECT_THAT(lines[6], MatchesRegex(" +share of samples with secondary +512 and 1000 +"
                                     ".256, 2000. +0.1250 +0.7500 +0.0040"));
  EXPECT_THAT(lines[7], HasSubstr("undefined: needs at least 5 values; there are 1"));

  std::vector<std::string> as_json = command;
  as_json.insert(as_json.end(), {"-o", "json"});
  const json all = json::parse(Run(as_json).out);
  EXPECT_EQ(all["summaries"][0]["labelValue"], 512);
  EXPECT_EQ(all["summaries"][1]["series"][0]["changePoint"]["firstAfter"], 1000);
}

TEST_F(SinkctlTest, SaysWhatIsWrongWithARequestForRuns) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"runs"}, "what about runs?"},
      {{"runs", "lst"}, "unknown command lst; did you mean \"list\"?"},
      {{"runs", "show"}, "which run?"},
      {{"runs", "export"}, "which run?"},
      {{"runs", "import", "a"}, "FILE"},
      {{"runs", "summarize"}, "which runs?"},
      {{"runs", "summarize", "--all", "--by", "day"}, "is not model, run or label:NAME"},
      {{"runs", "summarize", "--all", "--by", "model", "--order", "numeric"},
       "--order numeric needs --by label:NAME"},
      {{"runs", "list", "--since", "yesterday"}, "is not a time"},
      {{"runs", "list", "--label", "a"}, "is not NAME=VALUE"},
      {{"runs", "list", "--sinse", "x"}, "did you mean \"--since\"?"},
      {{"runs", "show", "a\xff"}, "is not UTF-8"},
      {{"detect", "alpha", "--resume", "--text", "x"}, "give --run ID"},
      {{"detect", "alpha", "--no-summary", "--text", "x"}, "give --run ID"},
      {{"detect", "alpha", "--run=r", "--no-summary", "--summary-only", "--text", "x"},
       "exclude each other"},
  };
  for (const auto& [arguments, told] : cases) {
    const ProcessResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments.back();
    EXPECT_THAT(result.err, HasSubstr(told));
  }
  EXPECT_THAT(Run({"runs", "list", "--sinse", "x"}).err, HasSubstr("`sinkctl runs list --help`"));
}

TEST_F(SinkctlTest, NamesTheSamplesOfARunByWhatTheyHold) {
  const std::string input =
      "{\"text\": \"a\", \"id\": \"mine\"}\n{\"text\": \"b\"}\n{\"text\": \"b\"}\n";
  RunWithInput({"detect", "alpha", "--run", "r", "--label", "k=v", "--keep-open"}, input);
  const std::vector<std::string> first = Ids(server_.last_samples());
  EXPECT_THAT(first, ElementsAre("mine", HasSubstr("content-"), first[2]));
  EXPECT_EQ(first[1], first[2]);
  EXPECT_EQ(server_.last_spec().run_id(), "r");
  EXPECT_EQ(server_.last_spec().run_labels().at("k"), "v");
  EXPECT_TRUE(server_.last_spec().keep_run_open());
  RunWithInput({"levels", "alpha", "--run-id", "other"}, "{\"text\": \"b\"}\n{\"text\": \"c\"}\n");
  const std::vector<std::string> second = Ids(server_.last_samples());
  EXPECT_EQ(second[0], first[1]);
  EXPECT_NE(second[1], first[1]);
  RunWithInput({"detect", "alpha"}, input);
  EXPECT_THAT(Ids(server_.last_samples()), ElementsAre("mine", "", ""));
}

TEST_F(SinkctlTest, AShardOfARunIsNotSummedUpUnlessAsked) {
  const std::string input = "{\"text\": \"a\", \"id\": \"one\"}\n{\"text\": \"b\"}\n";
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"levels", "alpha", "--run", "alpha-1", "-o", "json"};
    words.insert(words.end(), more.begin(), more.end());
    return RunWithInput(words, input);
  };
  for (const char* flag : {"--shard=0/1", "--no-summary"}) {
    const ProcessResult result = run({flag});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_TRUE(server_.last_spec().no_summary() && server_.last_spec().summary_only());
    EXPECT_THAT(result.out, Not(HasSubstr("\"summary\"")));
    EXPECT_THAT(result.out, HasSubstr("\"samplesAnswered\":2"));
    EXPECT_THAT(result.err, HasSubstr("`sinkctl runs summarize alpha-1`"));
  }
  EXPECT_THAT(run({"--shard=0/1", "--summary-only"}).out, HasSubstr("\"summary\""));
  EXPECT_THAT(run({}).out, HasSubstr("\"summary\""));
  RunWithInput({"detect", "alpha", "--run=r", "--shard=0/1", "--no-records"}, input);
  EXPECT_TRUE(server_.last_spec().no_summary() && server_.last_spec().summary_only());
  // Without a run the summary is that of the shard.
  EXPECT_FALSE(RunWithInput({"levels", "alpha", "--shard=0/1"}, input).out.empty());
  EXPECT_FALSE(server_.last_spec().no_summary());
}

TEST_F(SinkctlTest, SendsOnlyWhatTheRunDoesNotHold) {
  std::string input;
  for (const char* id : {"one", "new", "three", "newer"}) {
    input += std::string("{\"text\": \"x\", \"id\": \"") + id + "\"}\n";
  }
  const ProcessResult result =
      RunWithInput({"detect", "alpha", "--run", "alpha-1", "--resume", "-o", "json"}, input);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(Ids(server_.last_samples()), ElementsAre("new", "newer"));
  EXPECT_THAT(result.err, HasSubstr("2 samples of the input were in run alpha-1 before"));
  // A run that is not there holds nothing.
  EXPECT_EQ(RunWithInput({"detect", "alpha", "--run", "none", "--resume"}, input).exit_code, 0);
  EXPECT_THAT(server_.last_samples(), SizeIs(4));
}

// The digest of {"text": "x"}: sha256sum of \x02\x0a\x01x.
std::string DigestOfX() {
  return {
      "\x70\x0f\xf4\xe4\x29\xeb\x9c\x47\x29\xdf\x8c\xe8\x3b\x73\xa8\xb4"
      "\xf7\x48\x64\x06\x02\x2a\xd1\xe9\xa0\xdd\x21\x55\x15\xa0\x5d\x20",
      32};
}

TEST_F(SinkctlTest, SendsWhatTheRunHoldsWithAnotherText) {
  server_.runs.input_digests = {DigestOfX(), std::string(32, 'o'), ""};
  std::string input;
  for (const char* id : {"one", "two", "three", "new"}) {
    input += std::string("{\"text\": \"x\", \"id\": \"") + id + "\"}\n";
  }
  std::vector<std::string> words = {"detect", "alpha", "--run", "alpha-1", "--resume"};
  EXPECT_EQ(RunWithInput(words, input).exit_code, 0);
  EXPECT_THAT(Ids(server_.last_samples()), ElementsAre("two", "new"));
  EXPECT_FALSE(server_.last_spec().replace());
  // What is not known to be the same goes too where the new text is wanted.
  words.emplace_back("--replace");
  EXPECT_EQ(RunWithInput(words, input).exit_code, 0);
  EXPECT_THAT(Ids(server_.last_samples()), ElementsAre("two", "three", "new"));
  EXPECT_TRUE(server_.last_spec().replace());
}

TEST_F(SinkctlTest, ReportsSamplesThatComeTwice) {
  const std::string input =
      "{\"text\": \"a\", \"id\": \"1\"}\n{\"text\": \"b\", \"id\": \"2\"}\n"
      "{\"text\": \"a\", \"id\": \"1\"}\n{\"text\": \"c\", \"id\": \"2\"}\n{\"text\": \"d\"}\n";
  const ProcessResult result = RunWithInput({"detect", "alpha", "--run", "r"}, input);
  EXPECT_THAT(Ids(server_.last_samples()), SizeIs(5));
  EXPECT_THAT(result.err, HasSubstr("1 sample of the input came before under the same id"));
  EXPECT_THAT(result.err,
              HasSubstr("1 sample of the input has the id of an earlier one and another "
                        "text, the first at standard input:4"));
  // Without a run an id is a name and no more.
  EXPECT_THAT(RunWithInput({"detect", "alpha"}, input).err, Not(HasSubstr("came before")));
  EXPECT_THAT(RunWithInput({"detect", "alpha", "--run", "r", "-q"}, input).err,
              Not(HasSubstr("came before")));
}

TEST_F(SinkctlTest, ReplaceIsAboutARun) {
  const ProcessResult result = Run({"detect", "alpha", "--replace", "--text", "x"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--run ID"));
}

TEST_F(SinkctlTest, WritesABackupWhenAllOfItCame) {
  const std::string file = ::testing::TempDir() + "sinkctl-backup-" + std::to_string(getpid());
  std::ofstream(file) << "the backup before";
  const auto content = [&file] {
    std::ifstream in(file);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  server_.runs.store_bytes = 17;  // one more than comes
  const ProcessResult cut = Run({"runs", "backup", file});
  EXPECT_EQ(cut.exit_code, 4);
  EXPECT_THAT(cut.err, HasSubstr("16 of the 17 bytes"));
  EXPECT_EQ(content(), "the backup before");
  server_.runs.store_bytes = 16;
  const ProcessResult whole = Run({"runs", "backup", file});
  EXPECT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_THAT(whole.err, HasSubstr("16 bytes written to " + file));
  EXPECT_EQ(content(), "all of the store");
  EXPECT_NE(access((file + ".part").c_str(), F_OK), 0);
  unlink(file.c_str());
  EXPECT_EQ(Run({"runs", "backup", "/nowhere/file"}).exit_code, 2);
}

TEST_F(SinkctlTest, SaysWhenTheServerKeepsNoRuns) {
  const ProcessResult result = Run({"detect", "alpha", "--run", "r", "--text", "x"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("run r is not kept"));
}

TEST_F(SinkctlTest, StudiesTheSamplesOfARun) {
  EXPECT_EQ(Run({"norms", "alpha", "--run", "nightly", "-o", "json"}).exit_code, 0);
  EXPECT_EQ(server_.study_requests().back().run(), "runs/nightly");
  EXPECT_EQ(server_.study_requests().back().samples_size(), 0);
  EXPECT_EQ(Run({"norms", "alpha", "--run", "nightly", "--text", "x"}).exit_code, 0);
  EXPECT_EQ(server_.study_requests().back().samples_size(), 1);
}

// Answers two samples, then breaks off; the next stream is answered whole.
class BreakingServer {
 public:
  grpc::Status operator()(AnalyzeStream& stream, int breaks) {
    v1::AnalyzeRequest request;
    stream.Read(&request);
    v1::AnalyzeResponse started = MakeStarted(request.spec());
    started.mutable_started()->set_stored_samples(static_cast<int64_t>(answered_.size()));
    stream.Write(started);
    const bool last = streams_++ == breaks;
    int64_t index = 0;
    while (stream.Read(&request)) {
      if (!last && index == 2) return {grpc::StatusCode::UNAVAILABLE, "the server is stopping"};
      v1::AnalyzeResponse response;
      *response.mutable_record() = MakeRecord(index++, request.sample());
      stream.Write(response);
      answered_.push_back(request.sample().sample_id());
    }
    v1::AnalyzeResponse summary;
    *summary.mutable_summary() = MakeSummary({}, 7, 70);
    stream.Write(summary);
    return grpc::Status::OK;
  }
  const std::vector<std::string>& answered() const { return answered_; }
  int streams() const { return streams_; }

 private:
  std::vector<std::string> answered_;
  int streams_ = 0;
};

TEST_F(SinkctlTest, TakesUpARunWhoseStreamBroke) {
  BreakingServer breaking;
  server_.analyze = [&breaking](grpc::ServerContext&, AnalyzeStream& stream) {
    return breaking(stream, 2);
  };
  std::string input;
  for (int i = 0; i < 7; ++i) {
    input += "{\"text\": \"x\", \"id\": \"" + std::to_string(i) + "\"}\n";
  }
  const ProcessResult result =
      RunWithInput({"detect", "alpha", "--run", "r", "-o", "jsonl"}, input);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(breaking.streams(), 3);
  EXPECT_THAT(breaking.answered(), ElementsAre("0", "1", "2", "3", "4", "5", "6"));
  EXPECT_THAT(result.err, HasSubstr("resuming the run"));
  std::vector<std::string> ids;
  int64_t index = 0;
  for (const std::string& line : Lines(result.out)) {
    const json value = json::parse(line);
    if (value["type"] != "record") continue;
    ids.push_back(value["record"]["sampleId"]);
    EXPECT_EQ(value["record"]["sampleIndex"], std::to_string(index++));
  }
  EXPECT_THAT(ids, ElementsAre("0", "1", "2", "3", "4", "5", "6"));
}

TEST_F(SinkctlTest, AStreamThatKeepsNoRunIsNotTakenUp) {
  BreakingServer breaking;
  server_.analyze = [&breaking](grpc::ServerContext&, AnalyzeStream& stream) {
    return breaking(stream, 2);
  };
  const ProcessResult result = RunWithInput(
      {"detect", "alpha"}, "{\"text\": \"a\"}\n{\"text\": \"b\"}\n{\"text\": \"c\"}\n");
  EXPECT_NE(result.exit_code, 0);
  EXPECT_EQ(breaking.streams(), 1);
}

}  // namespace
}  // namespace sinkd::testing
