// What sinkctl does on a terminal and leaves out elsewhere.
#include "tests/client/sinkctl_fixture.h"

namespace sinkd::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::map<std::string, std::string> kTerminal = {{"TERM", "xterm-256color"}};

TEST_F(SinkctlTest, UsesColoursAndAProgressBarOnATerminal) {
  const std::string path = WriteFile("in.jsonl", "{\"text\": \"a\"}\n{\"text\": \"b\"}\n");
  const ProcessResult result =
      RunOnTerminal(Command({"detect", "alpha", "-i", path}), {.environment = kTerminal});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("\x1b[32msecondary\x1b[0m"));
  EXPECT_THAT(result.out, HasSubstr("samples"));
  EXPECT_THAT(result.out, HasSubstr("tokens/s"));
  // Whatever was drawn was taken away before the results went on.
  EXPECT_EQ(result.out.rfind("tokens/s") < result.out.rfind("\r\x1b[K"), true);
}

TEST_F(SinkctlTest, HonoursNoColorOnATerminal) {
  auto environment = kTerminal;
  environment["NO_COLOR"] = "1";
  const std::vector<std::string> quiet = Command({"-q", "detect", "alpha", "--text", "a"});
  EXPECT_THAT(RunOnTerminal(quiet, {.environment = environment}).out, Not(HasSubstr("\x1b")));
  std::vector<std::string> flagged = quiet;
  flagged.push_back("--no-color");
  EXPECT_THAT(RunOnTerminal(flagged, {.environment = kTerminal}).out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(RunOnTerminal(quiet, {.environment = {{"TERM", "dumb"}}}).out,
              Not(HasSubstr("\x1b")));
  EXPECT_THAT(RunOnTerminal(quiet, {.environment = kTerminal}).out, HasSubstr("\x1b[1m"));
}

TEST_F(SinkctlTest, ShowsTheProgressOfALoadOnATerminal) {
  const ProcessResult result =
      RunOnTerminal(Command({"load", "alpha"}), {.environment = kTerminal});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("of 4.0 MiB"));
}

TEST_F(SinkctlTest, KeepsTalkOffStandardOutput) {
  server_.sample_errors[0] = MakeError(grpc::StatusCode::INVALID_ARGUMENT, "bad", "EMPTY_SAMPLE");
  const ProcessResult result = Run({"detect", "alpha", "--text", "a", "--text", "b", "-o", "csv"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.out, Not(HasSubstr("sinkctl")));
  EXPECT_EQ(ParseCsv(result.out).size(), 4u);
  EXPECT_THAT(result.err, HasSubstr("--text: INVALID_ARGUMENT"));
}

}  // namespace
}  // namespace sinkd::testing
