// The study commands of sinkctl: what they ask, what they write in each format, how they end.
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>
#include <nlohmann/json.hpp>

#include "client/cli/terminal/text_width.h"
#include "tests/client/sinkctl_fixture.h"

namespace sinkd::testing {
namespace {

namespace v1 = ::sinks::v1;
using google::protobuf::util::MessageDifferencer;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kStudies[] = {"align",   "pca",   "cluster", "swap",  "steer",
                                    "entropy", "norms", "massive", "ablate"};
constexpr const char* kTwoSamples = "{\"text\": \"a\", \"id\": \"s0\"}\n{\"text\": \"b\"}\n";

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

TEST_F(SinkctlTest, AsksForTheStudyThatItsNameSays) {
  for (const char* study : kStudies) {
    EXPECT_EQ(RunWithInput({study, "alpha", "-o", "json"}, kTwoSamples).exit_code, 0) << study;
    const v1::RunStudyRequest request = server_.study_requests().back();
    EXPECT_EQ(request.model(), "models/alpha");
    ASSERT_EQ(request.samples_size(), 2);
    EXPECT_EQ(request.samples(0).sample_id(), "s0");
    EXPECT_EQ(request.samples(1).text().text(), "b");
    const auto* set = request.GetReflection()->GetOneofFieldDescriptor(
        request, request.GetDescriptor()->FindOneofByName("study"));
    ASSERT_NE(set, nullptr) << study;
    EXPECT_EQ(set->name(), study);
    EXPECT_FALSE(request.has_detection() || request.has_targets() || request.has_seed())
        << "what is not given is the server's to choose";
  }
}

TEST_F(SinkctlTest, PassesEveryParameterOfAStudy) {
  const auto asked = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"alpha", "--text", "a", "-o", "json"});
    EXPECT_EQ(Run(words).exit_code, 0) << words.front();
    v1::RunStudyRequest request = server_.study_requests().back();
    request.clear_model();
    request.clear_samples();
    return request.ShortDebugString();
  };
  EXPECT_EQ(asked({"align",
                   "--points",
                   "--kind",
                   "secondary,noise",
                   "--l-start",
                   "4",
                   "--token",
                   "5,6",
                   "--token",
                   "7",
                   "--limit",
                   "10",
                   "--seed",
                   "-3",
                   "--time-budget",
                   "1m",
                   "--template-date",
                   "2024-02-29",
                   "--preset",
                   "paper-text",
                   "--cosine-threshold",
                   "0.8"}),
            "detection { preset: DETECTION_PRESET_PAPER_TEXT cosine_threshold: 0.8 } targets { "
            "kinds: SINK_KIND_SECONDARY kinds: SINK_KIND_NOISE l_start: 4 token_ids: 5 token_ids: "
            "6 token_ids: 7 limit: 10 } seed: -3 template_date: \"2024-02-29\" "
            "time_budget_seconds: 60 align { points: true }");
  EXPECT_EQ(asked({"pca", "--block", "4", "--components", "5", "--scales", "0.5,4",
                   "--effective-cosine", "0.9"}),
            "pca { block: 4 components: 5 scales: 0.5 scales: 4 effective_cosine: 0.9 }");
  EXPECT_EQ(asked({"cluster", "--block", "4", "--blocks-before", "3", "--sites", "mlp_in,gate",
                   "--tsne-sites", "resid_pre", "--perplexity", "7.5", "--separating-auc", "0.9"}),
            "cluster { block: 4 blocks_before: 3 sites: SITE_MLP_IN sites: SITE_GATE tsne_sites: "
            "SITE_RESID_PRE perplexity: 7.5 separating_auc: 0.9 }");
  EXPECT_EQ(asked({"swap", "--blocks", "3,4", "--sites", "attn_out", "--controls-per-sample", "8",
                   "--loss"}),
            "swap { blocks: 3 blocks: 4 sites: SITE_ATTN_OUT controls_per_sample: 8 loss: true }");
  EXPECT_EQ(asked({"steer", "--block", "4", "--taus", "0,1e3", "--mode", "clip",
                   "--steer-cosine-threshold", "0.9", "--no-loss"}),
            "steer { block: 4 taus: 0 taus: 1000 mode: STEER_MODE_CLIP cosine_threshold: 0.9 "
            "loss: false }");
  EXPECT_EQ(asked({"entropy", "--alpha", "2", "--first", "4", "--end", "16"}),
            "entropy { alpha: 2 first: 4 end: 16 }");
  EXPECT_EQ(asked({"norms"}), "norms { }");
  EXPECT_EQ(asked({"massive", "--top", "5", "--per-sample"}),
            "massive { top: 5 per_sample: true }");
  EXPECT_EQ(
      asked({"ablate", "--ablations", "hide-keys,zero-head", "--levels", "2", "--heads", "1"}),
      "ablate { ablations: ABLATION_HIDE_KEYS ablations: ABLATION_ZERO_HEAD levels: 2 heads: "
      "1 }");
}

TEST_F(SinkctlTest, WritesAStudyAsOneJsonDocumentThatReadsBack) {
  for (const char* study : kStudies) {
    const json document =
        json::parse(RunWithInput({study, "alpha", "-o", "json"}, kTwoSamples).out);
    v1::StudyReport report;
    ASSERT_TRUE(
        google::protobuf::util::JsonStringToMessage(document["report"].dump(), &report).ok());
    EXPECT_TRUE(
        MessageDifferencer::Equals(report, MakeStudyReport(server_.study_requests().back())));
    EXPECT_EQ(document["started"]["request"]["model"], "models/alpha");
    EXPECT_TRUE(document["results"].empty());
    EXPECT_EQ(document["outcome"]["exitCode"], 0);
    EXPECT_EQ(document["outcome"]["samplesSent"], 2);
  }
}

TEST_F(SinkctlTest, WritesAStudyAsTypedLines) {
  server_.sample_errors[1] = MakeError(grpc::StatusCode::INVALID_ARGUMENT, "bad", "SAMPLE_EMPTY");
  const ProcessResult result =
      RunWithInput({"swap", "alpha", "-o", "jsonl"}, std::string(kTwoSamples) + "oops\n");
  EXPECT_EQ(result.exit_code, 4);
  std::vector<std::string> types;
  for (const std::string& line : Lines(result.out)) {
    const json object = json::parse(line);
    types.push_back(object["type"]);
    EXPECT_TRUE(object.contains(types.back()));
    if (types.back() == "sampleError") {
      EXPECT_EQ(object["sampleError"]["origin"], "standard input:2");
    }
  }
  EXPECT_THAT(types, ElementsAre("badInput", "started", "sampleError", "report", "outcome"));
  EXPECT_THAT(result.err, HasSubstr("standard input:2: INVALID_ARGUMENT"));
  EXPECT_THAT(result.err, HasSubstr("2 of 3 samples failed"));
}

TEST_F(SinkctlTest, WritesRowsOfEveryStudyAsCsv) {
  const std::map<std::string, size_t> rows = {
      {"align", 4},      {"pca", 2 * 3},      {"cluster", 3},
      {"swap", 2 * 12},  {"steer", 3 * 7},    {"entropy", 3 * 12},
      {"norms", 9 * 12}, {"massive", 2 * 12}, {"ablate", 7 + 3 * 6}};
  for (const auto& [study, count] : rows) {
    const ProcessResult result = RunWithInput({study, "alpha", "-o", "csv"}, kTwoSamples);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(ParseCsv(result.out).size(), count + 1) << study;
  }
  const auto swap = ParseCsv(RunWithInput({"swap", "alpha", "--loss", "-o", "csv"}, "a").out);
  EXPECT_THAT(swap[0], ElementsAre("block", "site", "group", "measure", "value", "lower", "upper",
                                   "n", "undefined", "model", "run"));
  EXPECT_THAT(swap[1], ElementsAre("3", "resid_post", "targets", "suppressed", "0.96875", "0.90625",
                                   "1.03125", "12", "", "models/alpha", ""));
  EXPECT_THAT(swap[5], ElementsAre("3", "resid_post", "untouched", "suppressed", "", "", "", "0",
                                   "no other sinks", "models/alpha", ""));
  EXPECT_EQ(swap.size(), 1u + 2 * 14) << "with the losses";
  const auto ablate = ParseCsv(RunWithInput({"ablate", "alpha", "-o", "csv"}, "a").out);
  EXPECT_THAT(ablate[1],
              ElementsAre("hide-keys", "level", "self", "12", "5", "", "", "loss_change", "", "",
                          "1.5", "1.4375", "1.5625", "12", "", "models/alpha", ""));
  EXPECT_THAT(ablate[7],
              ElementsAre("hide-keys", "level", "self", "12", "5", "", "", "loss_change", "2", "3",
                          "3", "2.9375", "3.0625", "12", "", "models/alpha", ""));
  const auto massive = ParseCsv(RunWithInput({"massive", "alpha", "-o", "csv"}, "a").out);
  EXPECT_EQ(massive[1][3], "-25000.5");
  EXPECT_EQ(massive[1][8], "\\x1b[31m漢\n");
}

TEST_F(SinkctlTest, ShowsTablesOfEveryStudyWithinAHundredColumns) {
  const std::map<std::string, std::vector<std::string>> shown = {
      {"align", {"0.9875 [0.9250, 1.0500]", "control: undefined, fewer controls than 2 \\x1b[31m"}},
      {"pca", {"component 1", "random 1", "effective: 1 of 2 components, 0 of 1 random"}},
      {"cluster",
       {"decision layer: 3, seen at attn_out", "attn_out: undefined, all rows are equal",
        "attn_out 3, mlp_out never", "t-SNE of attn_out at block 3: 1 points"}},
      {"swap",
       {"0.9688 [0.9062, 1.0312]", "others: undefined, no other sinks",
        "computed 1,000 block-rows, 0.250 of the 4,000", "1 samples left out"}},
      {"steer", {"as it is", "score: undefined, none of them is a sink", "0.500 of the 20"}},
      {"entropy", {"without sinks: undefined, all rows are zero"}},
      {"norms", {"||key||, before rotary", "||state|| after the block"}},
      {"ablate",
       {"as it is: 3.25", "hide-keys", "level (12, 5)", "1.5000 [1.4375, 1.5625]", "  attended",
        "zero-head", "block 3, head 2, drawn", "vanished: undefined, no other sinks"}},
      {"massive", {"-25000.5", "447", "\"\\x1b[31m漢\\n\"", "40.250"}}};
  for (const auto& [study, words] : shown) {
    std::vector<std::string> command = {study, "alpha"};
    if (study == "swap") command.emplace_back("--loss");
    const ProcessResult result = RunWithInput(command, kTwoSamples);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.err, IsEmpty());
    EXPECT_THAT(result.out, HasSubstr(study + "  2 samples, 1,234 tokens, 45 sinks"));
    EXPECT_THAT(result.out, HasSubstr("models/alpha  12 blocks  float32 on cpu  |cos| > 0.9"));
    for (const std::string& word : words) EXPECT_THAT(result.out, HasSubstr(word));
    for (const std::string& line : Lines(result.out)) {
      EXPECT_LE(cli::DisplayWidth(line), 100) << line;
    }
    EXPECT_THAT(result.out, Not(HasSubstr("\x1b")));
    EXPECT_THAT(result.out, Not(HasSubstr("not steered"))) << "values stand beside it";
    EXPECT_THAT(RunWithInput({study, "alpha", "--no-chart"}, kTwoSamples).out, Not(HasSubstr("█")));
  }
}

TEST_F(SinkctlTest, SaysWhyAStudyHasNoNumbersAtAll) {
  server_.edit_report = [](v1::StudyReport& report) {
    report.mutable_swap()->Clear();
    report.mutable_swap()->set_undefined("no targets");
  };
  const ProcessResult result = RunWithInput({"swap", "alpha"}, kTwoSamples);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("undefined: no targets"));
}

TEST_F(SinkctlTest, WarnsOfAPartialReportAndKeepsIt) {
  server_.edit_report = [](v1::StudyReport& report) {
    report.set_partial(true);
    report.set_partial_reason("the time budget ran out in phase swap");
    report.set_samples(1);
  };
  const ProcessResult result = RunWithInput({"swap", "alpha", "-q"}, kTwoSamples);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("PARTIAL: the time budget ran out in phase swap; the numbers "
                                    "cover 1 of 2 samples"));
  EXPECT_THAT(result.out, HasSubstr("partial: the time budget ran out"));
  EXPECT_THAT(result.out, HasSubstr("resid_post"));
}

TEST_F(SinkctlTest, EndsAsADeadlineWhenNothingWasMeasured) {
  server_.edit_report = [](v1::StudyReport& report) {
    report.set_partial(true);
    report.set_partial_reason("the call's deadline came");
    report.set_samples(0);
  };
  const ProcessResult result = RunWithInput({"norms", "alpha", "-o", "json"}, kTwoSamples);
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_THAT(result.err, HasSubstr("nothing was measured"));
  EXPECT_EQ(json::parse(result.out)["outcome"]["exitCode"], 5);
}

TEST_F(SinkctlTest, StopsAStudyAtTheFirstBadSampleWhenAsked) {
  server_.sample_errors[0] = MakeError(grpc::StatusCode::INVALID_ARGUMENT, "bad", "SAMPLE_EMPTY");
  const ProcessResult result = RunWithInput({"norms", "alpha", "--fail-fast"}, kTwoSamples);
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.out, Not(HasSubstr("||key||")));
  EXPECT_EQ(RunWithInput({"norms", "alpha", "--fail-fast"}, "{\"text\": 1}\n").exit_code, 2);
}

TEST_F(SinkctlTest, TellsTheServersErrorOfAStudy) {
  server_.study_status = MakeError(grpc::StatusCode::INVALID_ARGUMENT, "top must be from 1 to 100",
                                   "PARAMETER_OUT_OF_RANGE", "massive.top");
  const ProcessResult result = RunWithInput({"massive", "alpha", "--top", "0"}, kTwoSamples);
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, HasSubstr("massive.top"));
}

TEST_F(SinkctlTest, RefusesWordsThatMeanNothingToAStudy) {
  const auto refused = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"alpha", "--text", "a"});
    const ProcessResult result = Run(words);
    EXPECT_EQ(result.exit_code, 2);
    return result.err;
  };
  EXPECT_THAT(refused({"swap", "--sites", "attn_out,mlp_ot"}), HasSubstr("mlp_out"));
  EXPECT_THAT(refused({"swap", "--blocks", "3,x"}), HasSubstr("\"x\" is not an integer in range"));
  EXPECT_THAT(refused({"steer", "--taus", "1,nan"}), HasSubstr("\"nan\" is not a finite number"));
  EXPECT_THAT(refused({"norms", "--time-budget", "soon"}), HasSubstr("is not a duration"));
  EXPECT_THAT(refused({"norms", "--kind", "noise"}), HasSubstr("unknown flag --kind"));
  EXPECT_THAT(Run({"norms", "--text", "a"}).err, HasSubstr("which model?"));
  EXPECT_TRUE(server_.study_requests().empty());
}

TEST_F(SinkctlTest, ShowsTheProgressOfAStudyOnATerminal) {
  const ProcessResult result = RunOnTerminal(Command({"norms", "alpha", "--text", "a"}),
                                             {.environment = {{"TERM", "xterm-256color"}}});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("detect 1/2"));
}

TEST_F(SinkctlTest, HelpsWithEveryStudy) {
  for (const char* study : kStudies) {
    const ProcessResult result = Run({study, "--help"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.out, HasSubstr(std::string("sinkctl ") + study));
    EXPECT_THAT(result.out, HasSubstr("--time-budget"));
  }
}

}  // namespace
}  // namespace sinkd::testing
