// Commands, flags and exit codes of sinkctl.
#include <signal.h>

#include "tests/client/sinkctl_fixture.h"

namespace sinkd::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(SinkctlTest, AlonePrintsShortHelp) {
  const ProcessResult result = RunProcess({SINKCTL_PATH});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("sinkctl analyze"));
  EXPECT_THAT(result.err, IsEmpty());
}

TEST_F(SinkctlTest, EveryCommandHasHelpWithAnExample) {
  for (const char* command :
       {"models",  "families", "plan",    "load",         "unload", "detect",
        "scores",  "levels",   "regress", "compensation", "rate",   "heads",
        "analyze", "align",    "pca",     "cluster",      "swap",   "steer",
        "entropy", "norms",    "massive", "ablate",       "health", "completion"}) {
    const ProcessResult result = RunProcess({SINKCTL_PATH, command, "--help"});
    EXPECT_EQ(result.exit_code, 0) << command;
    EXPECT_THAT(result.out, HasSubstr("Example")) << command;
    EXPECT_THAT(result.out, HasSubstr(std::string("sinkctl ") + command)) << command;
  }
}

TEST_F(SinkctlTest, PrintsItsVersion) {
  EXPECT_THAT(RunProcess({SINKCTL_PATH, "version"}).out, StartsWith("sinkctl "));
}

struct UsageCase {
  std::vector<std::string> arguments;
  const char* message;
};

void PrintTo(const UsageCase& bad, std::ostream* out) {
  *out << bad.message;
}

class SinkctlUsage : public SinkctlTest, public ::testing::WithParamInterface<UsageCase> {};

TEST_P(SinkctlUsage, ExitsWith2AndAHint) {
  const ProcessResult result = RunWithInput(GetParam().arguments, "{\"text\": \"a\"}\n");
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr(GetParam().message));
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_EQ(server_.samples_received, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Table, SinkctlUsage,
    ::testing::Values(
        UsageCase{{"detcet", "alpha"}, "unknown command detcet; did you mean \"detect\"?"},
        UsageCase{{"detect", "alpha", "--inptu", "x"}, "did you mean \"--input\"?"},
        UsageCase{{"detect", "alpha", "beta"}, "unknown word beta"},
        UsageCase{{"detect", "a\xff"}, "MODEL \"a\\xff\" is not UTF-8"},
        UsageCase{{"load", "a\xff"}, "MODEL \"a\\xff\" is not UTF-8"},
        UsageCase{{"load", "alpha", "--device", "\xff"}, "--device \"\\xff\" is not UTF-8"},
        UsageCase{{"detect", "alpha", "--run-id", "\xff"}, "--run \"\\xff\" is not UTF-8"},
        UsageCase{{"detect", "alpha", "--epsilon", "1"}, "unknown flag --epsilon"},
        UsageCase{{"detect", "alpha", "--output", "jsno"}, "did you mean \"json\"?"},
        UsageCase{{"detect", "alpha", "--kind-rule", "x"}, "not one of window,published"},
        UsageCase{{"detect", "alpha", "--cosine-threshold", "nan"}, "not a finite number"},
        UsageCase{{"detect", "alpha", "--cosine-threshold", "0.9x"}, "not a finite number"},
        UsageCase{{"levels", "alpha", "--top-tokens", "1.5"}, "not an integer"},
        UsageCase{{"levels", "alpha", "--top-tokens", "3000000000"}, "not an integer in range"},
        UsageCase{{"detect", "alpha", "--timeout", "soon"}, "is not a duration"},
        UsageCase{{"detect", "alpha", "--input"}, "--input"},
        UsageCase{{"detect", "alpha", "--input", "/nowhere/x.jsonl"}, "No such file"},
        UsageCase{{"detect", "alpha", "--input", "/tmp"}, "it is a folder"},
        UsageCase{{"detect"}, "which model?"}, UsageCase{{"load"}, "which model?"},
        UsageCase{{"plan"}, "which model?"},
        UsageCase{{"plan", "alpha", "--length", "x"}, "not an integer"},
        UsageCase{{"plan", "alpha", "--residency", "stream"}, "did you mean \"streamed\"?"},
        UsageCase{{"plan", "alpha", "--device", "\xff"}, "--device \"\\xff\" is not UTF-8"},
        UsageCase{{"families", "\xff"}, "FAMILY \"\\xff\" is not UTF-8"},
        UsageCase{{"load", "alpha", "--residency", "x"}, "not one of resident,streamed"},
        UsageCase{{"analyze", "alpha"}, "which analyses?"},
        UsageCase{{"analyze", "alpha", "--all", "--output", "csv"}, "CSV holds one table"},
        UsageCase{{"scores", "alpha", "--all-positions"}, "--output json"},
        UsageCase{{"detect", "alpha", "--records", "--summary-only"}, "--records excludes"},
        UsageCase{{"completion", "tcsh"}, "not one of bash,zsh,fish"},
        UsageCase{{"completion"}, "SHELL"}, UsageCase{{"--server", "here", "models"}, "no port"},
        UsageCase{{"models", "detect", "--text"}, "--text"}));

TEST_F(SinkctlTest, ListsModelsInEveryFormat) {
  EXPECT_EQ(Run({"models", "--names"}).out, "alpha\nbeta\ngamma\n");
  const ProcessResult table = Run({"models"});
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_THAT(table.out, HasSubstr("available"));
  EXPECT_THAT(table.out, HasSubstr("truncated"));
  const auto rows = ParseCsv(Run({"models", "--output", "csv"}).out);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0][0], "name");
  EXPECT_EQ(rows[3][13], "model.safetensors: truncated, \"lm_head\" ends at 12");
}

TEST_F(SinkctlTest, ShowsOneModelAndLoadsAndUnloads) {
  EXPECT_THAT(Run({"models", "beta"}).out, HasSubstr("32,000"));
  const ProcessResult load = Run({"load", "beta", "--compute-type", "bfloat16"});
  EXPECT_EQ(load.exit_code, 0);
  EXPECT_THAT(load.out, HasSubstr("cpu as bfloat16, 4.0 MiB"));
  EXPECT_THAT(load.err, IsEmpty()) << "no progress bar on a pipe";
  EXPECT_THAT(load.out, Not(HasSubstr("streamed")));
  EXPECT_EQ(Run({"unload", "models/beta"}).exit_code, 0);
}

TEST_F(SinkctlTest, SaysWhereWeightsAreStreamed) {
  EXPECT_THAT(Run({"load", "beta", "--residency", "streamed"}).out,
              HasSubstr("cpu as float32, 4.0 MiB, streamed from disk"));
  sinks::v1::Model& alpha = server_.models[0];
  alpha.set_compute_type(sinks::v1::COMPUTE_TYPE_BFLOAT16);
  alpha.set_residency(sinks::v1::RESIDENCY_STREAMED);
  server_.models[1].set_compute_type(sinks::v1::COMPUTE_TYPE_BFLOAT16);
  server_.models[1].set_residency(sinks::v1::RESIDENCY_RESIDENT);
  const ProcessResult table = Run({"models"});
  EXPECT_THAT(table.out, HasSubstr("bfloat16, streamed"));
  EXPECT_THAT(table.out, Not(HasSubstr("resident")));
  const auto rows = ParseCsv(Run({"models", "--output", "csv"}).out);
  EXPECT_EQ(rows[0][15], "residency");
  EXPECT_EQ(rows[1][15], "streamed");
  EXPECT_EQ(rows[2][15], "resident");
  EXPECT_EQ(rows[3][15], "");
}

TEST_F(SinkctlTest, ReportsAnErrorOfTheServerWithItsDetailsAs4) {
  server_.load_status =
      MakeError(grpc::StatusCode::RESOURCE_EXHAUSTED, "needs 9 GiB", "MEMORY_BUDGET", "name", 2000);
  const ProcessResult result = Run({"load", "alpha"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_EQ(result.err,
            "sinkctl: RESOURCE_EXHAUSTED (MEMORY_BUDGET): needs 9 GiB\n"
            "  field: name: out of its limits\n  retry after: 2 s\n");
  EXPECT_EQ(Run({"models", "nothing"}).exit_code, 4);
}

TEST_F(SinkctlTest, ExitsWith3WhenNobodyListens) {
  std::string address;
  {
    const FakeServer gone;
    address = gone.address();
  }
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"models"}, {"load", "a"}, {"detect", "a", "--text", "x"}}) {
    std::vector<std::string> arguments = {SINKCTL_PATH, "--server", address};
    arguments.insert(arguments.end(), command.begin(), command.end());
    const ProcessResult result = RunProcess(arguments);
    EXPECT_EQ(result.exit_code, 3) << result.err;
    EXPECT_THAT(result.err, HasSubstr("cannot reach " + address));
  }
}

TEST_F(SinkctlTest, ExitsWith4WhenTheServerIsDraining) {
  server_.analyze = [](grpc::ServerContext&, AnalyzeStream&) {
    return MakeError(grpc::StatusCode::UNAVAILABLE, "draining", "DRAINING", "", 60'000);
  };
  // It would try again were there time.
  EXPECT_EQ(Run({"detect", "alpha", "--text", "x", "--timeout", "30s"}).exit_code, 4);
}

TEST_F(SinkctlTest, ExitsWith5AtTheDeadline) {
  ProcessOptions options;
  options.input = "{\"text\": \"a\"}\n";
  options.keep_input_open = true;
  const ProcessResult result = Run({"detect", "alpha", "--timeout", "1s"}, options);
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_THAT(result.err, HasSubstr("DEADLINE_EXCEEDED"));
  EXPECT_THAT(result.out, HasSubstr("sample 0")) << "what was ready was written";
}

TEST_F(SinkctlTest, ExitsWith4WhenASampleFailsAndNamesItsLine) {
  server_.sample_errors[1] = MakeError(grpc::StatusCode::INVALID_ARGUMENT, "id 9 is out of range",
                                       "TOKEN_ID_OUT_OF_RANGE", "sample.token_ids[0]");
  const std::string path =
      WriteFile("in.jsonl", "\n{\"text\": \"a\"}\n\n{\"token_ids\": [9]}\n{\"text\": \"b\"}\n");
  const ProcessResult result = Run({"detect", "alpha", "-i", path});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, HasSubstr("in.jsonl:4: INVALID_ARGUMENT (TOKEN_ID_OUT_OF_RANGE)"));
  EXPECT_THAT(result.err, HasSubstr("1 of 3 samples failed"));
  EXPECT_THAT(result.out, HasSubstr("sample 2"));
  const ProcessResult fast = Run({"--fail-fast", "detect", "alpha", "-i", path});
  EXPECT_EQ(fast.exit_code, 4);
  EXPECT_THAT(fast.out, Not(HasSubstr("sample 2")));
}

TEST_F(SinkctlTest, InterruptCancelsTheStreamAndExitsWith130) {
  ProcessOptions options;
  options.input = "{\"text\": \"a\"}\n";
  options.keep_input_open = true;
  options.signal = SIGINT;
  options.signal_when = "sample 0";
  const ProcessResult result = Run({"detect", "alpha"}, options);
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_THAT(result.err, HasSubstr("interrupted: 1 of 1 samples answered"));
}

TEST_F(SinkctlTest, EndsQuietlyWhenTheReaderOfItsOutputGoes) {
  std::string input;
  for (int i = 0; i < 20'000; ++i) input += "{\"text\": \"a\"}\n";
  ProcessOptions options;
  options.input = input;
  options.close_output_after = 1000;
  for (const char* format : {"table", "json", "jsonl", "csv"}) {
    const ProcessResult result = Run({"detect", "alpha", "-o", format}, options);
    EXPECT_EQ(result.exit_code, 0) << format;
    EXPECT_THAT(result.err, IsEmpty()) << format;
  }
}

TEST_F(SinkctlTest, PutsEveryParameterIntoTheSpec) {
  const ProcessResult result = Run({"analyze",
                                    "alpha",
                                    "--all",
                                    "--text",
                                    "x",
                                    "-o",
                                    "json",
                                    "--preset",
                                    "paper-text",
                                    "--cosine-threshold",
                                    "0.8",
                                    "--min-norm-ratio",
                                    "2.5",
                                    "--kind-rule",
                                    "published",
                                    "--last-state",
                                    "raw",
                                    "--exclude-self",
                                    "--divisor",
                                    "all",
                                    "--curves",
                                    "--all-positions",
                                    "--gu2024",
                                    "--epsilon",
                                    "0.25",
                                    "--rate-positions",
                                    "7",
                                    "--first-tokens",
                                    "32",
                                    "--min-share",
                                    "0.1",
                                    "--top-tokens",
                                    "3",
                                    "--include-primary-position",
                                    "--include-primary",
                                    "--points",
                                    "--heads",
                                    "--dormant-mass",
                                    "0.8",
                                    "--dormant-value-share",
                                    "0.4",
                                    "--bootstrap-samples",
                                    "12",
                                    "--seed",
                                    "-9000000000",
                                    "--portrait",
                                    "4",
                                    "--run-id",
                                    "run-1",
                                    "--template-date",
                                    "2024-07-26",
                                    "--fail-fast"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(server_.last_spec().ShortDebugString(),
            "model: \"models/alpha\" run_id: \"run-1\" fail_fast: true "
            "template_date: \"2024-07-26\" "
            "detection { preset: DETECTION_PRESET_PAPER_TEXT cosine_threshold: 0.8 "
            "min_norm_ratio: 2.5 kind_rule: KIND_RULE_PUBLISHED last_state: LAST_STATE_RAW } "
            "scores { exclude_self: true divisor: QUERY_DIVISOR_ALL curves: true "
            "all_positions: true } "
            "sink_rate { preset: SINK_RATE_PRESET_GU2024 epsilon: 0.25 positions: 7 "
            "first_tokens: 32 } "
            "levels { min_share: 0.1 top_tokens: 3 include_primary_position: true } "
            "regression { include_primary: true points: true } "
            "compensation { bootstrap_samples: 12 seed: -9000000000 } portrait { samples: 4 } "
            "heads { dormant_mass: 0.8 dormant_value_share: 0.4 }");
  EXPECT_THAT(server_.last_request_id(), StartsWith("sinkctl-"));
}

TEST_F(SinkctlTest, LeavesParametersThatAreNotGivenToTheServer) {
  EXPECT_EQ(Run({"levels", "alpha", "--text", "x"}).exit_code, 0);
  EXPECT_EQ(server_.last_spec().ShortDebugString(),
            "model: \"models/alpha\" summary_only: true detection { } levels { }");
  EXPECT_EQ(Run({"detect", "--text", "x"}, {.environment = {{"SINKCTL_MODEL", "beta"}}}).exit_code,
            0);
  EXPECT_EQ(server_.last_spec().ShortDebugString(), "model: \"models/beta\" detection { }");
}

TEST_F(SinkctlTest, TakesTheServerFromTheEnvironment) {
  const ProcessResult result = RunProcess({SINKCTL_PATH, "models", "--names"},
                                          {.environment = {{"SINKCTL_SERVER", server_.address()}}});
  EXPECT_EQ(result.out, "alpha\nbeta\ngamma\n");
}

TEST_F(SinkctlTest, HelpsWithACommandAndTellsItsVersion) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"detect"}, {"runs", "export"}, {}}) {
    std::vector<std::string> help = {SINKCTL_PATH, "help"};
    help.insert(help.end(), words.begin(), words.end());
    std::vector<std::string> flag = {SINKCTL_PATH};
    flag.insert(flag.end(), words.begin(), words.end());
    flag.emplace_back("--help");
    const ProcessResult result = RunProcess(help);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.out, RunProcess(flag).out);
  }
  const ProcessResult unknown = RunProcess({SINKCTL_PATH, "help", "detekt"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("unknown command detekt; did you mean \"detect\"?"));
  const ProcessResult version = RunProcess({SINKCTL_PATH, "--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_EQ(version.out, RunProcess({SINKCTL_PATH, "version"}).out);
}

// What bash offers for a command line whose last word is being typed.
std::string Complete(const std::string& server, const std::string& words) {
  const std::string program(SINKCTL_PATH);
  const std::string folder = program.substr(0, program.rfind('/'));
  return RunProcess(
             {"/bin/bash", "-c",
              "PATH=" + folder + ":$PATH; source <(sinkctl completion bash); COMP_WORDS=(" + words +
                  "); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _sinkctl; "
                  "echo \"${COMPREPLY[*]}\""},
             {.environment = {{"SINKCTL_SERVER", server}}})
      .out;
}

TEST_F(SinkctlTest, CompletesCommandsFlagsValuesAndModels) {
  const std::string& server = server_.address();
  EXPECT_EQ(Complete(server, "sinkctl un"), "unload\n");
  EXPECT_EQ(Complete(server, "sinkctl detect --kind"), "--kind-rule\n");
  EXPECT_EQ(Complete(server, "sinkctl detect --kind-rule ''"), "window published\n");
  EXPECT_EQ(Complete(server, "sinkctl levels -o c"), "csv\n");
  EXPECT_EQ(Complete(server, "sinkctl load ''"), "alpha beta gamma\n");
  EXPECT_EQ(Complete(server, "sinkctl detect -m b"), "beta\n");
  EXPECT_EQ(Complete(server, "sinkctl completion f"), "fish\n");
  EXPECT_EQ(Complete(server, "sinkctl pl"), "plan\n");
  EXPECT_EQ(Complete(server, "sinkctl hea"), "heads health\n");
  EXPECT_EQ(Complete(server, "sinkctl health --wa"), "--wait\n");
  EXPECT_EQ(Complete(server, "sinkctl plan b"), "beta\n");
  EXPECT_EQ(Complete(server, "sinkctl plan --residency ''"), "resident streamed\n");
  EXPECT_EQ(Complete(server, "sinkctl families ''"), "llama two\n");
  EXPECT_EQ(Complete(server, "sinkctl runs s"), "show summarize\n");
  EXPECT_EQ(Complete(server, "sinkctl runs show b"), "beta-1\n");
  EXPECT_EQ(Complete(server, "sinkctl runs list --si"), "--since\n");
  EXPECT_EQ(Complete(server, "sinkctl detect --run a"), "alpha-1\n");
}

TEST_F(SinkctlTest, WritesCompletionForZshAndFish) {
  EXPECT_THAT(Run({"completion", "zsh"}).out, StartsWith("#compdef sinkctl"));
  EXPECT_THAT(Run({"completion", "fish"}).out,
              HasSubstr("complete -c sinkctl -n '__fish_seen_subcommand_from detect' -l kind-rule "
                        "-x -a 'window published'"));
  EXPECT_THAT(Run({"completion", "fish"}).out,
              HasSubstr("-n '__fish_seen_subcommand_from families' -a '(__sinkctl_families)'"));
  EXPECT_THAT(Run({"completion", "fish"}).out,
              HasSubstr("-n '__fish_seen_subcommand_from runs; and __fish_seen_subcommand_from "
                        "show' -a '(__sinkctl_runs)'"));
}

}  // namespace
}  // namespace sinkd::testing
