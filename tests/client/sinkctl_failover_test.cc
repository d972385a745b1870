// What sinkctl writes when streams without a run break off: every answer once.
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/client/fake_server.h"
#include "tests/client/sinkctl_fixture.h"

namespace sinkd::testing {
namespace {

namespace v1 = ::sinks::v1;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kChunks = 3;  // of alpha, for each sample

// Breaks off after so many messages, stream by stream; the last stream is whole.
class Breaking {
 public:
  explicit Breaking(std::vector<int> messages) : messages_(std::move(messages)) {}

  grpc::Status operator()(AnalyzeStream& stream) {
    const size_t number = streams_++;
    int left = number < messages_.size() ? messages_[number] : 1 << 30;
    v1::AnalyzeRequest request;
    stream.Read(&request);
    stream.Write(MakeStarted(request.spec()));
    const bool alpha = request.spec().scores().all_positions();
    int64_t index = 0;
    for (; stream.Read(&request); ++index) {
      for (const v1::AnalyzeResponse& each : Answer(index, request.sample(), alpha)) {
        if (left-- == 0) return {grpc::StatusCode::UNAVAILABLE, "the server is stopping"};
        stream.Write(each);
      }
    }
    v1::AnalyzeResponse summary;
    *summary.mutable_summary() = MakeSummary({}, index, 10 * index);
    stream.Write(summary);
    return grpc::Status::OK;
  }

  size_t streams() const { return streams_; }

 private:
  static std::vector<v1::AnalyzeResponse> Answer(int64_t index, const v1::Sample& sample,
                                                 bool alpha) {
    std::vector<v1::AnalyzeResponse> answer;
    for (int i = 0; alpha && i < kChunks; ++i) {
      v1::AlphaChunk& chunk = *answer.emplace_back().mutable_alpha();
      chunk.set_sample_index(index);
      chunk.set_first_head(i);
    }
    *answer.emplace_back().mutable_record() = MakeRecord(index, sample);
    return answer;
  }

  const std::vector<int> messages_;
  size_t streams_ = 0;
};

class SinkctlFailover : public SinkctlTest {
 protected:
  // "started", "alpha 0.2", "record 0", "summary", "outcome": what was written, in order.
  std::vector<std::string> Written(Breaking& breaking, std::vector<std::string> flags) {
    server_.analyze = [&breaking](grpc::ServerContext&, AnalyzeStream& stream) {
      return breaking(stream);
    };
    std::vector<std::string> arguments = {"scores", "alpha", "-o", "jsonl", "-i", Input()};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const ProcessResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, expected_code_) << result.err;
    said_ = result.err;
    std::vector<std::string> written;
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) written.push_back(Name(json::parse(line)));
    return written;
  }

  int expected_code_ = 0;
  std::string said_;

 private:
  static std::string Name(const json& line) {
    const std::string type = line["type"];
    if (!line.contains(type) || !line[type].contains("sampleIndex")) return type;
    std::string name = type + " " + line[type]["sampleIndex"].get<std::string>();
    if (type == "alpha") name += "." + std::to_string(line[type]["firstHead"].get<int>());
    return name;
  }

  std::string Input() {
    return WriteFile("in.jsonl", "{\"text\": \"a\"}\n{\"text\": \"b\"}\n{\"text\": \"c\"}\n");
  }
};

TEST_F(SinkctlFailover, WritesRecordsOnceWhereverStreamsBreak) {
  for (int first = 0; first < 3; ++first) {
    for (int second = 0; second < 3; ++second) {
      Breaking breaking({first, second});
      EXPECT_THAT(Written(breaking, {}),
                  ElementsAre("started", "record 0", "record 1", "record 2", "summary", "outcome"));
      EXPECT_EQ(breaking.streams(), 3);
      EXPECT_THAT(said_, HasSubstr("starting over"));
    }
  }
}

TEST_F(SinkctlFailover, WritesPiecesOfAlphaOnce) {
  Breaking breaking({2, 6, 5});
  EXPECT_THAT(Written(breaking, {"--all-positions"}),
              ElementsAre("started", "alpha 0.0", "alpha 0.1", "alpha 0.2", "record 0", "alpha 1.0",
                          "alpha 1.1", "alpha 1.2", "record 1", "alpha 2.0", "alpha 2.1",
                          "alpha 2.2", "record 2", "summary", "outcome"));
}

TEST_F(SinkctlFailover, GivesUpWhereNothingNewComes) {
  Breaking breaking(std::vector<int>(20, 1));
  expected_code_ = 3;
  EXPECT_THAT(Written(breaking, {"--timeout", "60s"}),
              ElementsAre("started", "record 0", "outcome"));
  EXPECT_EQ(breaking.streams(), 7);
}

TEST_F(SinkctlFailover, GivesUpWhenRetryForIsOver) {
  Breaking breaking(std::vector<int>(20, 1));
  expected_code_ = 3;
  EXPECT_THAT(Written(breaking, {"--retry-for", "1ms"}),
              ElementsAre("started", "record 0", "outcome"));
  EXPECT_LE(breaking.streams(), 2);  // the first pause is longer
  EXPECT_THAT(said_, Not(HasSubstr("--resume")));
}

TEST_F(SinkctlFailover, WaitsForAServerThatIsNotThereYet) {
  int streams = 0;
  Breaking breaking({});
  server_.analyze = [&](grpc::ServerContext&, AnalyzeStream& stream) {
    if (streams++ < 2) return grpc::Status(grpc::StatusCode::UNAVAILABLE, "no connection");
    return breaking(stream);
  };
  const std::string input = WriteFile("one.jsonl", "{\"text\": \"a\"}\n");
  EXPECT_EQ(Run({"detect", "alpha", "-i", input}).exit_code, 3);
  EXPECT_EQ(streams, 1);
  streams = 0;
  const ProcessResult patient = Run({"detect", "alpha", "-i", input, "--retry-for", "10m"});
  EXPECT_EQ(patient.exit_code, 0) << patient.err;
  EXPECT_EQ(streams, 3);
}

TEST_F(SinkctlFailover, SaysWhatCommandGoesOnWithARun) {
  server_.analyze = [](grpc::ServerContext&, AnalyzeStream&) {
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "no connection");
  };
  const std::string input = WriteFile("it's one.jsonl", "{\"text\": \"a\"}\n");
  const ProcessResult result = Run({"detect", "alpha", "-i", input, "--run", "nightly"});
  EXPECT_EQ(result.exit_code, 3);
  std::string quoted = input;
  quoted.insert(quoted.find('\'') + 1, "\\''");
  EXPECT_THAT(result.err, HasSubstr("sinkctl --server " + server_.address() + " detect alpha -i '" +
                                    quoted + "' --run nightly --resume\n"));
}

}  // namespace
}  // namespace sinkd::testing
