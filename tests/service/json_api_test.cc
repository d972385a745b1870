#include "server/service/json/json_api.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "error_details.h"
#include "run_store_fixture.h"
#include "server/base/status.h"
#include "server/service/json/json_text.h"

namespace sinkd {
namespace {

namespace v1 = ::sinks::v1;
using ::testing::Contains;
using testing::DetailsOf;
using ::testing::HasSubstr;
using ::testing::Pair;
using testing::TextSample;

template <typename Message>
Message Parse(const HttpAnswer& answer) {
  EXPECT_EQ(answer.status, 200) << answer.body;
  Message message;
  const auto parsed = google::protobuf::util::JsonStringToMessage(answer.body, &message);
  EXPECT_TRUE(parsed.ok()) << parsed.ToString();
  return message;
}

std::string ReasonOf(const HttpAnswer& answer) {
  google::rpc::Status status;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(answer.body, &status).ok());
  return DetailsOf(status).info->reason();
}

class JsonApiTest : public testing::KeptRuns {
 protected:
  void Fill(const std::string& id, int samples) {
    std::vector<v1::Sample> all;
    for (int i = 0; i < samples; ++i) all.push_back(TextSample("a!!", std::to_string(i)));
    ASSERT_TRUE(Analyze(RunSpec(id), all).status.ok());
  }

  HttpAnswer Ask(std::vector<std::string> path,
                 std::vector<std::pair<std::string, std::string>> parameters = {},
                 const std::stop_token& stop = {}) {
    path.insert(path.begin(), {"api", "v1"});
    return api_.Answer({.path = std::move(path), .parameters = std::move(parameters)}, stop);
  }

  JsonApi api_{running_.catalog, &store_};
};

TEST_F(JsonApiTest, StudiesComeAsTheyWereKept) {
  Fill("run", 1);
  v1::RunStudyRequest request;
  request.set_model("models/fake");
  request.mutable_norms();
  v1::StudyReport report;
  report.set_samples(7);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(store_
                    .AddStudy("run", {.request = request.SerializeAsString(),
                                      .report = report.SerializeAsString()})
                    .ok());
  }
  const std::string body = Ask({"runs", "run", "studies"}).body;
  ASSERT_TRUE(body.starts_with("{\"studies\":[")) << body;
  const size_t comma = body.find("},{\"createTime\"");
  ASSERT_NE(comma, std::string::npos) << body;
  const auto first = Parse<v1::ListStudiesResponse>({.body = body.substr(12, comma + 1 - 12)});
  EXPECT_EQ(first.request().SerializeAsString(), request.SerializeAsString());
  EXPECT_EQ(first.report().SerializeAsString(), report.SerializeAsString());
  EXPECT_TRUE(first.has_create_time());
}

TEST_F(JsonApiTest, APageOfRecordsEndsAtFourMebibytesAndTheNextOneGoesOn) {
  Fill("run", 0);
  ASSERT_TRUE(store_.SetState("run", RunState::kOpen).ok());
  constexpr int kRecords = 12;
  constexpr size_t kNoteBytes = 700'000;
  std::vector<Record> records;
  for (int i = 0; i < kRecords; ++i) {
    v1::SampleError error;
    error.mutable_status()->set_message(std::string(kNoteBytes, 'x'));
    records.push_back(
        {.sample_key = std::to_string(i), .failed = true, .payload = error.SerializeAsString()});
  }
  ASSERT_TRUE(store_.Append("run", records).ok());
  std::vector<size_t> sizes;
  std::vector<int64_t> sequences;
  std::string token;
  do {
    const HttpAnswer answer = Ask({"runs", "run", "records"}, {{"pageToken", token}});
    EXPECT_LT(answer.body.size(), size_t{4} << 20);
    const auto page = nlohmann::json::parse(answer.body);
    sizes.push_back(page.at("records").size());
    for (const auto& record : page.at("records")) {
      sequences.push_back(std::stoll(record.at("sequence").get<std::string>()));
    }
    token = page.value("nextPageToken", "");
  } while (!token.empty() && sizes.size() < kRecords);
  EXPECT_EQ(sizes, (std::vector<size_t>{5, 5, 2}));
  std::vector<int64_t> all(kRecords);
  std::iota(all.begin(), all.end(), 1);
  EXPECT_EQ(sequences, all);
}

TEST_F(JsonApiTest, ARecordLargerThanAPageComesAlone) {
  Fill("run", 0);
  ASSERT_TRUE(store_.SetState("run", RunState::kOpen).ok());
  v1::SampleError error;
  error.mutable_status()->set_message(std::string(size_t{5} << 20, 'x'));
  const std::vector<Record> records = {
      {.sample_key = "a", .failed = true, .payload = error.SerializeAsString()},
      {.sample_key = "b", .failed = true, .payload = error.SerializeAsString()}};
  ASSERT_TRUE(store_.Append("run", records).ok());
  const auto page = nlohmann::json::parse(Ask({"runs", "run", "records"}).body);
  EXPECT_EQ(page.at("records").size(), 1);
  EXPECT_EQ(page.at("nextPageToken"), "1");
}

// Holds whoever reads records until it is opened.
class Gate {
 public:
  void Pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  void AwaitWaiting(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ >= count; });
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool open_ = false;
};

TEST_F(JsonApiTest, SummariesInPlentyAreRefusedAndHoldNothingElseUp) {
  Fill("run", 3);
  Gate gate;
  store_.before_read = [&gate] { gate.Pass(); };
  // Three are made and five wait, so that the first one that is answered is one too many.
  std::promise<HttpAnswer> first;
  std::once_flag once;
  std::vector<std::future<int>> answers;
  for (int i = 0; i < 9; ++i) {
    answers.push_back(std::async(std::launch::async, [&] {
      const HttpAnswer answer = Ask({"runs", "run", "summary"});
      std::call_once(once, [&] { first.set_value(answer); });
      return answer.status;
    }));
  }
  const HttpAnswer refused = first.get_future().get();
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(ReasonOf(refused), "QUEUE_FULL");
  EXPECT_THAT(refused.headers, Contains(Pair("Retry-After", "1")));
  EXPECT_EQ(Ask({"runs", "run"}).status, 200);
  EXPECT_EQ(Ask({"models"}).status, 200);
  gate.Open();
  std::multiset<int> statuses;
  for (std::future<int>& answer : answers) statuses.insert(answer.get());
  EXPECT_EQ(statuses, (std::multiset<int>{200, 200, 200, 200, 200, 200, 200, 200, 429}));
}

TEST_F(JsonApiTest, ASummaryThatNobodyWaitsForEnds) {
  Fill("run", 3);
  Gate gate;
  store_.before_read = [&gate] { gate.Pass(); };
  std::stop_source stop;
  auto answer = std::async(std::launch::async, [&] {
    return Ask({"runs", "run", "summary"}, {}, stop.get_token());
  });
  gate.AwaitWaiting(1);
  stop.request_stop();
  gate.Open();
  const HttpAnswer ended = answer.get();
  EXPECT_EQ(ended.status, 503);
  EXPECT_THAT(ended.headers, Contains(Pair("Retry-After", ::testing::_)));
}

TEST_F(JsonApiTest, WithoutAStoreRunsAreRefused) {
  JsonApi without(running_.catalog, nullptr);
  for (const auto& path : std::vector<std::vector<std::string>>{
           {"api", "v1", "runs"}, {"api", "v1", "runs", "a"}, {"api", "v1", "summaries"}}) {
    const HttpAnswer answer = without.Answer({.path = path}, {});
    EXPECT_EQ(answer.status, 409);
    EXPECT_EQ(ReasonOf(answer), "STORE_OFF");
  }
}

TEST(JsonText, EveryCodeHasItsHttpStatus) {
  const std::vector<std::pair<absl::StatusCode, int>> all = {
      {absl::StatusCode::kInvalidArgument, 400},
      {absl::StatusCode::kOutOfRange, 400},
      {absl::StatusCode::kPermissionDenied, 403},
      {absl::StatusCode::kNotFound, 404},
      {absl::StatusCode::kAlreadyExists, 409},
      {absl::StatusCode::kAborted, 409},
      {absl::StatusCode::kFailedPrecondition, 409},
      {absl::StatusCode::kResourceExhausted, 429},
      {absl::StatusCode::kInternal, 500},
      {absl::StatusCode::kDataLoss, 500},
      {absl::StatusCode::kUnknown, 500},
      {absl::StatusCode::kUnimplemented, 501},
      {absl::StatusCode::kUnavailable, 503},
      {absl::StatusCode::kDeadlineExceeded, 504}};
  for (const auto& [code, status] : all) {
    const HttpAnswer answer = ErrorAnswer(MakeError(code, "no", {.reason = "WHY"}));
    EXPECT_EQ(answer.status, status) << code;
    EXPECT_EQ(ReasonOf(answer), "WHY");
    EXPECT_THAT(answer.body, HasSubstr("\"code\":" + std::to_string(static_cast<int>(code))));
  }
}

TEST(JsonText, RetryAfterIsInWholeSecondsAndOnlyWhereItHelps) {
  const auto retry = [](const absl::Status& error) {
    std::string seconds;
    for (const auto& [name, value] : ErrorAnswer(error).headers) seconds = name + " " + value;
    return seconds;
  };
  EXPECT_EQ(retry(ResourceExhausted(
                "x", {.reason = "X", .retry_after = std::chrono::milliseconds(1001)})),
            "Retry-After 2");
  EXPECT_EQ(retry(ResourceExhausted("x", {.reason = "STORE_FULL"})), "");
  EXPECT_EQ(retry(Unavailable("x", {.reason = "X"})), "Retry-After 1");
  EXPECT_EQ(retry(InvalidArgument("x", {.reason = "X"})), "");
}

TEST(JsonText, TheSameMessageHasTheSameText) {
  std::set<std::string> texts;
  for (int turn = 0; turn < 20; ++turn) {
    v1::Run run;
    for (int i = 0; i < 50; ++i) {
      const int key = (i * 7 + turn) % 50;
      (*run.mutable_labels())[std::to_string(key)] = "v";
    }
    texts.insert(*ToJson(run));
  }
  EXPECT_EQ(texts.size(), 1U);
}

TEST(JsonText, NumbersThatAreNoneAreWordsAndLargeOnesText) {
  v1::Coefficient coefficient;
  coefficient.set_value(std::numeric_limits<double>::quiet_NaN());
  coefficient.set_upper(std::numeric_limits<double>::infinity());
  EXPECT_EQ(*ToJson(coefficient), R"({"value":"NaN","upper":"Infinity"})");
  v1::Run run;
  run.set_size_bytes(int64_t{1} << 60);
  EXPECT_EQ(*ToJson(run), R"({"sizeBytes":"1152921504606846976"})");
}

}  // namespace
}  // namespace sinkd
