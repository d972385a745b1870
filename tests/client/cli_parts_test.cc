#include <fcntl.h>
#include <unistd.h>

#include <optional>
#include <thread>

#include <gmock/gmock.h>
#include <google/rpc/error_details.pb.h>
#include <gtest/gtest.h>

#include "client/cli/commands/command_line.h"
#include "client/cli/flags/flag_values.h"
#include "client/cli/input/line_reader.h"
#include "client/cli/input/sample_reader.h"
#include "client/cli/output/csv_table.h"
#include "client/cli/output/json_parts.h"
#include "client/cli/output/number_format.h"
#include "sinks/v1/runs.pb.h"

namespace sinkd::cli {
namespace {

using ::testing::ElementsAre;

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content, const std::string& extension = "") {
    path_ = ::testing::TempDir() + "sinkctl_XXXXXX" + extension;
    const int descriptor = mkstemps(path_.data(), static_cast<int>(extension.size()));
    EXPECT_EQ(write(descriptor, content.data(), content.size()),
              static_cast<ssize_t>(content.size()));
    close(descriptor);
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::vector<std::string> Lines(const std::string& content, size_t cap = 1000) {
  const TemporaryFile file(content);
  StopSignal stop;
  LineReader reader(*ByteStream::Open(file.path(), &stop), cap);
  std::vector<std::string> lines;
  while (true) {
    const auto line = reader.Next();
    if (!line.ok() || !line->has_value()) return lines;
    lines.push_back(std::to_string((*line)->number) +
                    ((*line)->too_long ? "!" : ":" + std::string((*line)->text)));
  }
}

TEST(LineReader, TakesEveryEndOfLine) {
  EXPECT_THAT(Lines("a\nb\r\n\r\n\nc"), ElementsAre("1:a", "2:b", "3:", "4:", "5:c"));
  EXPECT_THAT(Lines(""), ElementsAre());
  EXPECT_THAT(Lines("\n"), ElementsAre("1:"));
}

TEST(LineReader, LeavesTheByteOrderMarkOut) {
  EXPECT_THAT(Lines("\xEF\xBB\xBF{}\n\xEF\xBB\xBF"), ElementsAre("1:{}", "2:\xEF\xBB\xBF"));
  EXPECT_THAT(Lines("\xEF\xBB"), ElementsAre("1:\xEF\xBB"));
}

TEST(LineReader, SkipsALineOverTheCapAndGoesOn) {
  const std::string line(300'000, 'x');
  EXPECT_THAT(Lines("a\n" + line + "\nb\n" + line, 100'000), ElementsAre("1:a", "2!", "3:b", "4!"));
}

TEST(ByteStream, WakesAReaderThatWaits) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int saved = dup(STDIN_FILENO);
  dup2(ends[0], STDIN_FILENO);
  InputOptions options;
  options.files = {"-"};
  SampleReader reader(options);
  std::thread stopper([&] { reader.Stop(); });
  EXPECT_FALSE(reader.Next());
  stopper.join();
  dup2(saved, STDIN_FILENO);
  for (const int descriptor : {saved, ends[0], ends[1]}) close(descriptor);
}

std::vector<std::string> Read(InputOptions options) {
  SampleReader reader(std::move(options));
  std::vector<std::string> items;
  while (auto item = reader.Next()) {
    if (const auto* sample = std::get_if<InputSample>(&*item)) {
      items.push_back(sample->sample.text().text());
    } else {
      const auto& error = std::get<InputError>(*item);
      items.push_back("error at " + std::to_string(error.line));
    }
  }
  return items;
}

TEST(SampleReader, GoesByTheNameThenByTheFirstCharacter) {
  const TemporaryFile jsonl("\xEF\xBB\xBF\n{\"text\": \"a\"}\r\n\n{\"text\": \"b\"}");
  EXPECT_THAT(Read({.files = {jsonl.path()}}), ElementsAre("a", "b"));
  const TemporaryFile text("{not json}\nsecond\n", ".txt");
  EXPECT_THAT(Read({.files = {text.path()}}), ElementsAre("{not json}\nsecond"));
  EXPECT_THAT(Read({.files = {text.path()}, .lines = true}), ElementsAre("{not json}", "second"));
  EXPECT_THAT(Read({.files = {text.path()}, .format = InputFormat::kJsonl}),
              ElementsAre("error at 1", "error at 2"));
}

TEST(SampleReader, TakesTextsThenFiles) {
  const TemporaryFile file("f", ".txt");
  EXPECT_THAT(Read({.files = {file.path()}, .texts = {"a", "b"}}), ElementsAre("a", "b", "f"));
}

TEST(SampleReader, RefusesEmptyTooLongAndNonUtf8Texts) {
  const TemporaryFile empty("", ".txt");
  const TemporaryFile large(std::string(5 << 20, 'x'), ".txt");
  const TemporaryFile latin("caf\xe9", ".txt");
  EXPECT_THAT(Read({.files = {empty.path(), large.path(), latin.path()}}),
              ElementsAre("error at 0", "error at 0", "error at 0"));
}

TEST(NumberFormat, KeepsItsPrecision) {
  EXPECT_EQ(Grouped(1234567), "1,234,567");
  EXPECT_EQ(Grouped(-1000), "-1,000");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(Compact(0.00001), "1.000e-05");
  EXPECT_EQ(Compact(12345.678), "12345.7");
  EXPECT_EQ(PValue(0), "<1e-300");
  EXPECT_EQ(Bytes(1536), "1.5 KiB");
  EXPECT_EQ(Runs(std::vector<int32_t>{1, 2, 3, 7, 9, 10}), "1-3,7,9-10");
  EXPECT_EQ(Duration(3725), "1:02:05");
}

// A row of these words.
std::string Csv(const CsvTable::Words& words, bool raw = false) {
  std::string columns = "=";
  for (size_t i = 1; i < words.size(); ++i) columns += ",=";
  return CsvTable(columns, raw).Row({}, words);
}

TEST(CsvTable, QuotesAsRfc4180Says) {
  EXPECT_EQ(Csv({"a", "b,c", "d\"e\n", ""}), "a,\"b,c\",\"d\"\"e\n\",\r\n");
}

TEST(CsvTable, WritesFieldsByTheirPaths) {
  sinks::v1::Fit fit;
  fit.set_form(sinks::v1::REGRESSION_FORM_LOG_LOG);
  fit.set_n(12);
  fit.mutable_slope()->set_value(0.1);
  sinks::v1::Sink sink;
  sink.add_layers(3);
  sink.add_layers(4);
  sink.set_contiguous(true);
  sink.set_token_text("=1");
  CsvTable csv("y=,form,n,a=intercept.value,b=slope.value,layers,contiguous,token_text,model=");
  csv.EndWith({"models/m"});
  EXPECT_EQ(csv.Header(), "y,form,n,a,b,layers,contiguous,token_text,model\r\n");
  EXPECT_EQ(csv.Row({&fit, &sink}, {"score"}), "score,log-log,12,,0.1,3 4,true,'=1,models/m\r\n");
}

TEST(CsvTable, NeutralizesWhatASpreadsheetWouldRun) {
  const auto cell = [](const std::string& text, bool raw = false) {
    std::string row = Csv({text}, raw);
    row.resize(row.size() - 2);
    return row;
  };
  EXPECT_EQ(cell("=1+1"), "'=1+1");
  EXPECT_EQ(cell("=1+1", true), "=1+1");
  EXPECT_EQ(cell("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
  EXPECT_EQ(cell("+1+1"), "'+1+1");
  EXPECT_EQ(cell("-2+3"), "'-2+3");
  EXPECT_EQ(cell("@SUM(A1)"), "'@SUM(A1)");
  EXPECT_EQ(cell("\t=1"), "\"'\t=1\"");
  EXPECT_EQ(cell("\r=1"), "\"'\r=1\"");
  EXPECT_EQ(cell("\n=1"), "\"'\n=1\"");
  EXPECT_EQ(cell("\uFF1D1+1"), "'\uFF1D1+1");
  EXPECT_EQ(cell("=HYPERLINK(\"a\",\"b\")"), "\"'=HYPERLINK(\"\"a\"\",\"\"b\"\")\"");
  EXPECT_EQ(cell("-"), "'-");
}

TEST(CsvTable, LeavesNumbersAndOtherTextAlone) {
  EXPECT_EQ(Csv({"-1.5", "-7", "+2", "-1e-07", "-inf"}), "-1.5,-7,+2,-1e-07,-inf\r\n");
  EXPECT_EQ(Csv({"-0.5 0.25 -1", "a=b", " Wait", "caf\u00e9"}),
            "-0.5 0.25 -1,a=b, Wait,caf\u00e9\r\n");
}

TEST(CsvTable, WritesControlAndDirectionCharactersVisibly) {
  EXPECT_EQ(Csv({"a\x1b[31m", "a\u202eb", "a\u2028b", "a\uFFFE"}),
            "a\\x1b[31m,a\\u{202e}b,a\\u{2028}b,a\\u{fffe}\r\n");
}

TEST(Flags, ParseDurations) {
  EXPECT_EQ(ParseDuration("30"), std::chrono::seconds(30));
  EXPECT_EQ(ParseDuration("1.5s"), std::chrono::milliseconds(1500));
  EXPECT_EQ(ParseDuration("2m"), std::chrono::minutes(2));
  for (const char* bad : {"", "0", "-1s", "5x", "s", "nan", "1e30h"}) {
    EXPECT_FALSE(ParseDuration(bad)) << bad;
  }
}

TEST(CommandLine, SaysWhetherToPinOnlyWhereAFlagDoes) {
  const auto pinned = [](std::vector<const char*> words) -> std::optional<bool> {
    Invocation invocation;
    const auto app = MakeCommandLine(invocation);
    words.insert(words.begin(), {"sinkctl", "load", "alpha"});
    EXPECT_FALSE(ParseCommandLine(static_cast<int>(words.size()), words.data(), *app, invocation));
    const sinks::v1::LoadModelRequest& load = invocation.models.load;
    return load.has_pinned() ? std::optional(load.pinned()) : std::nullopt;
  };
  EXPECT_EQ(pinned({}), std::nullopt);
  EXPECT_EQ(pinned({"--pin"}), true);
  EXPECT_EQ(pinned({"--no-pin"}), false);
}

TEST(ToJson, LeavesOutDetailsOfUnknownTypeAndNothingElse) {
  sinks::v1::StoredRecord stored;
  google::rpc::Status& status = *stored.mutable_error()->mutable_status();
  status.set_message("of a newer server");
  google::protobuf::Any& unheard = *status.add_details();
  unheard.set_type_url("type.googleapis.com/sinks.v9.Unheard");
  unheard.set_value("\n\1a");
  google::rpc::ErrorInfo info;
  info.set_reason("NEW");
  status.add_details()->PackFrom(info);
  const std::string json = ToJson(stored);
  EXPECT_THAT(json, ::testing::HasSubstr("of a newer server"));
  EXPECT_THAT(json, ::testing::HasSubstr("\"NEW\""));
  EXPECT_THAT(json, ::testing::Not(::testing::HasSubstr("Unheard")));
}

}  // namespace
}  // namespace sinkd::cli
