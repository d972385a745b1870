#include "client/analysis_client.h"

#include <condition_variable>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/error_report.h"
#include "tests/client/fake_server.h"

namespace sinkd::client {
namespace {

namespace v1 = ::sinks::v1;
using testing::AnalyzeStream;
using testing::FakeServer;
using testing::MakeRecord;
using testing::MakeStarted;
using testing::MakeSummary;

// `count` samples of `bytes` bytes each.
class Samples : public SampleSource {
 public:
  explicit Samples(int64_t count, size_t bytes = 8) : count_(count), text_(bytes, 'x') {}

  absl::StatusOr<std::optional<v1::Sample>> Next() override {
    if (pulled == count_) return std::nullopt;
    v1::Sample sample;
    sample.set_sample_id("s" + std::to_string(pulled++));
    sample.mutable_text()->set_text(text_);
    return sample;
  }

  std::atomic<int64_t> pulled = 0;

 private:
  int64_t count_;
  std::string text_;
};

// Gives one sample, then waits until it is stopped.
class Waiting : public SampleSource {
 public:
  absl::StatusOr<std::optional<v1::Sample>> Next() override {
    std::unique_lock lock(mutex_);
    if (!std::exchange(given_, true)) {
      v1::Sample sample;
      sample.mutable_text()->set_text("one");
      return sample;
    }
    changed_.wait(lock, [this] { return stopped_; });
    return std::nullopt;
  }
  void Stop() override {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool given_ = false;
  bool stopped_ = false;
};

class Collector : public AnalysisObserver {
 public:
  absl::Status OnStarted(const v1::AnalyzeStarted&) override { return Note("started"); }
  absl::Status OnRecord(v1::SampleRecord record) override {
    records.push_back(record);
    if (on_record) on_record();
    return Note("record " + std::to_string(record.sample_index()));
  }
  absl::Status OnSampleError(const v1::SampleError& error) override {
    errors.push_back(error);
    return Note("error " + std::to_string(error.sample_index()));
  }
  absl::Status OnSummary(const v1::Summary&) override { return Note("summary"); }

  std::vector<std::string> events;
  std::vector<v1::SampleRecord> records;
  std::vector<v1::SampleError> errors;
  std::function<void()> on_record;
  absl::Status answer;

 private:
  absl::Status Note(std::string event) {
    events.push_back(std::move(event));
    return answer;
  }
};

absl::Status Analyze(FakeServer& server, SampleSource& source, AnalysisObserver& observer,
                     const CallOptions& options = {}) {
  v1::AnalysisSpec spec;
  spec.set_model("models/alpha");
  return AnalysisClient(server.MakeChannel()).Analyze(spec, source, observer, options);
}

TEST(AnalysisClient, ToldOfAnswersInTheOrderSent) {
  FakeServer server;
  server.sample_errors[1] = testing::MakeError(grpc::StatusCode::INVALID_ARGUMENT, "empty",
                                               "EMPTY_SAMPLE", "sample.text");
  Samples samples(3);
  Collector collector;
  CallOptions options;
  options.request_id = "run-1";
  EXPECT_EQ(Analyze(server, samples, collector, options), absl::OkStatus());
  EXPECT_THAT(collector.events,
              ::testing::ElementsAre("started", "record 0", "error 1", "record 2", "summary"));
  EXPECT_EQ(collector.records[1].sample_id(), "s2");
  const ErrorReport report = ReadErrorReport(FromRpcStatus(collector.errors[0].status()));
  EXPECT_EQ(report.reason, "EMPTY_SAMPLE");
  EXPECT_EQ(server.last_request_id(), "run-1");
}

TEST(AnalysisClient, MissesNoSummaryThatItDidNotAskFor) {
  FakeServer server;
  Samples samples(2);
  Collector collector;
  v1::AnalysisSpec spec;
  spec.set_model("models/alpha");
  spec.set_no_summary(true);
  EXPECT_EQ(AnalysisClient(server.MakeChannel()).Analyze(spec, samples, collector, {}),
            absl::OkStatus());
  EXPECT_THAT(collector.events, ::testing::ElementsAre("started", "record 0", "record 1"));
}

TEST(AnalysisClient, ToldOfTheFirstRecordBeforeTheLastSampleIsSent) {
  FakeServer server;
  Waiting samples;  // its stream ends only after the record came
  Collector collector;
  collector.on_record = [&] { samples.Stop(); };
  EXPECT_EQ(Analyze(server, samples, collector), absl::OkStatus());
  EXPECT_EQ(collector.records.size(), 1u);
}

TEST(AnalysisClient, PullsNoFurtherThanTheServerReads) {
  FakeServer server;
  server.analyze = [](grpc::ServerContext& context, AnalyzeStream&) {
    while (!context.IsCancelled()) std::this_thread::yield();
    return grpc::Status::OK;
  };
  constexpr size_t kBytes = 64 << 10;
  Samples samples(1'000'000, kBytes);
  Collector collector;
  CallOptions options;
  options.deadline = std::chrono::system_clock::now() + std::chrono::seconds(1);
  EXPECT_TRUE(absl::IsDeadlineExceeded(Analyze(server, samples, collector, options)));
  EXPECT_LT(static_cast<size_t>(samples.pulled) * kBytes, 16u << 20);
}

TEST(AnalysisClient, JoinsThePartsOfARecord) {
  FakeServer server;
  server.analyze = [](grpc::ServerContext&, AnalyzeStream& stream) {
    v1::AnalyzeRequest request;
    stream.Read(&request);
    stream.Write(MakeStarted(request.spec()));
    stream.Read(&request);
    v1::AnalyzeResponse response;
    for (int part = 0; part < 3; ++part) {
      v1::SampleRecord& record = *response.mutable_record();
      record.Clear();
      record.set_sample_index(0);
      if (part == 0) record = MakeRecord(0, request.sample());
      if (part > 0) record.add_sinks()->set_position(100 + part);
      if (part < 2) record.set_continued(true);
      stream.Write(response);
    }
    *response.mutable_summary() = MakeSummary({}, 1, 10);
    stream.Write(response);
    return grpc::Status::OK;
  };
  Samples samples(1);
  Collector collector;
  EXPECT_EQ(Analyze(server, samples, collector), absl::OkStatus());
  ASSERT_EQ(collector.records.size(), 1u);
  const v1::SampleRecord& record = collector.records[0];
  EXPECT_FALSE(record.has_continued());
  EXPECT_EQ(record.positions(), 10);
  std::vector<int> positions;
  for (const v1::Sink& sink : record.sinks()) positions.push_back(sink.position());
  EXPECT_THAT(positions, ::testing::ElementsAre(4, 7, 101, 102));
}

TEST(AnalysisClient, ReturnsTheErrorThatEndsTheStream) {
  FakeServer server;
  server.analyze = [](grpc::ServerContext&, AnalyzeStream&) {
    return testing::MakeError(grpc::StatusCode::NOT_FOUND, "no model alpha", "MODEL_NOT_FOUND");
  };
  Waiting samples;
  Collector collector;
  const absl::Status status = Analyze(server, samples, collector);
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_EQ(ReadErrorReport(status).reason, "MODEL_NOT_FOUND");
}

TEST(AnalysisClient, StopsAWaitingSourceAtTheDeadline) {
  FakeServer server;
  Waiting samples;
  Collector collector;
  CallOptions options;
  options.deadline = std::chrono::system_clock::now() + std::chrono::milliseconds(300);
  EXPECT_TRUE(absl::IsDeadlineExceeded(Analyze(server, samples, collector, options)));
}

TEST(AnalysisClient, CancelsFromAnotherThread) {
  FakeServer server;
  Waiting samples;
  Collector collector;
  Cancellation cancellation;
  std::thread canceller;
  collector.on_record = [&] { canceller = std::thread([&] { cancellation.Cancel(); }); };
  CallOptions options;
  options.cancellation = &cancellation;
  EXPECT_TRUE(absl::IsCancelled(Analyze(server, samples, collector, options)));
  canceller.join();
}

TEST(AnalysisClient, ReturnsTheErrorOfTheObserverAndCancels) {
  FakeServer server;
  Waiting samples;
  Collector collector;
  collector.answer = absl::AbortedError("enough");
  EXPECT_EQ(Analyze(server, samples, collector), absl::AbortedError("enough"));
  EXPECT_EQ(collector.events.size(), 1u);
}

TEST(AnalysisClient, ReturnsTheErrorOfTheSource) {
  class Bad : public SampleSource {
    absl::StatusOr<std::optional<v1::Sample>> Next() override {
      return absl::DataLossError("line 3");
    }
  };
  FakeServer server;
  Bad samples;
  Collector collector;
  EXPECT_EQ(Analyze(server, samples, collector), absl::DataLossError("line 3"));
}

TEST(AnalysisClient, UnavailableWithoutDetailsWhenNobodyListens) {
  Samples samples(1);
  Collector collector;
  std::shared_ptr<grpc::Channel> channel;
  {
    FakeServer server;
    channel = server.MakeChannel();
  }
  const absl::Status status = AnalysisClient(channel).Analyze({}, samples, collector, {});
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_FALSE(ReadErrorReport(status).has_details());
}

// Servers that break the contract of the stream, and what the client says.
struct BrokenCase {
  const char* name;
  std::vector<v1::AnalyzeResponse> responses;
  const char* message;
};

void PrintTo(const BrokenCase& bad, std::ostream* out) {
  *out << bad.name;
}

v1::AnalyzeResponse Record(int64_t index, bool continued = false) {
  v1::AnalyzeResponse response;
  response.mutable_record()->set_sample_index(index);
  if (continued) response.mutable_record()->set_continued(true);
  return response;
}

v1::AnalyzeResponse Summary() {
  v1::AnalyzeResponse response;
  response.mutable_summary();
  return response;
}

class BrokenStream : public ::testing::TestWithParam<BrokenCase> {};

TEST_P(BrokenStream, IsInternalAndSaysWhatIsWrong) {
  FakeServer server;
  server.analyze = [](grpc::ServerContext&, AnalyzeStream& stream) {
    v1::AnalyzeRequest request;
    while (stream.Read(&request)) {
    }
    for (const v1::AnalyzeResponse& response : GetParam().responses) stream.Write(response);
    return grpc::Status::OK;
  };
  Samples samples(2);
  Collector collector;
  const absl::Status status = Analyze(server, samples, collector);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << status;
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, BrokenStream,
    ::testing::Values(
        BrokenCase{"NoStarted", {Record(0)}, "not `started`"},
        BrokenCase{"TwiceStarted", {MakeStarted({}), MakeStarted({})}, "twice"},
        BrokenCase{"NoSummary", {MakeStarted({}), Record(0), Record(1)}, "without a summary"},
        BrokenCase{"Missing", {MakeStarted({}), Record(0), Summary()}, "answered 1 of 2"},
        BrokenCase{"OutOfOrder", {MakeStarted({}), Record(1), Record(0)}, "order sent"},
        BrokenCase{"TwoAnswers", {MakeStarted({}), Record(0), Record(0)}, "order sent"},
        BrokenCase{"BrokenOff", {MakeStarted({}), Record(0, true), Record(1)}, "broke off"},
        BrokenCase{"OpenEnd",
                   {MakeStarted({}), Record(0), Record(1, true), Summary()},
                   "ends in the middle"},
        BrokenCase{"AfterSummary", {MakeStarted({}), Summary(), Record(0)}, "after the summary"}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace sinkd::client
