// RunStudy with a stored run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "error_details.h"
#include "run_store_fixture.h"
#include "sinks/v1/mechanism.grpc.pb.h"

namespace sinkd {
namespace {

namespace v1 = ::sinks::v1;
using testing::BytesOf;
using testing::DetailsOf;
using testing::IdsSample;
using ::testing::SizeIs;
using testing::TextSample;

class StudyRunTest : public testing::KeptRuns {
 protected:
  void SetUp() override {
    ASSERT_TRUE(Analyze(RunSpec("run"), {TextSample("a!b", "one"), TextSample("", "bad"),
                                         TextSample("hello", "two")})
                    .status.ok());
  }

  v1::RunStudyRequest Request(const std::string& run) {
    v1::RunStudyRequest request;
    request.set_model("models/fake");
    request.mutable_norms();
    request.set_run(run);
    return request;
  }

  v1::StudyReport Study(const v1::RunStudyRequest& request,
                        const std::shared_ptr<grpc::Channel>& channel) {
    grpc::ClientContext context;
    const auto stub = v1::MechanismService::NewStub(channel);
    const auto stream = stub->RunStudy(&context, request);
    v1::RunStudyResponse response;
    v1::StudyReport report;
    while (stream->Read(&response)) {
      if (response.has_report()) report = response.report();
      if (response.has_started()) started_ = response.started();
    }
    status_ = stream->Finish();
    return report;
  }
  v1::StudyReport Study(const v1::RunStudyRequest& request) {
    return Study(request, running_.channel);
  }

  std::vector<StoredStudy> Kept() {
    std::vector<StoredStudy> kept;
    int64_t after = 0;
    while (auto study = *store_.NextStudy("run", after)) {
      after = study->number;
      kept.push_back(*std::move(study));
    }
    return kept;
  }

  std::string Reason() const {
    const auto info = DetailsOf(status_).info;
    return info ? info->reason() : status_.error_message();
  }

  grpc::Status status_;
  v1::StudyStarted started_;
};

TEST_F(StudyRunTest, TakesTheRunsSamplesAndKeepsTheReportWithIt) {
  const v1::StudyReport report = Study(Request("runs/run"));
  ASSERT_TRUE(status_.ok()) << status_.error_message();
  EXPECT_EQ(report.samples(), 2);
  EXPECT_EQ(report.tokens(), 8);
  EXPECT_EQ(started_.request().run(), "runs/run");
  const std::vector<StoredStudy> kept = Kept();
  ASSERT_THAT(kept, SizeIs(1));
  v1::StudyReport read;
  ASSERT_TRUE(read.ParseFromString(kept[0].report));
  EXPECT_EQ(BytesOf(read), BytesOf(report));
  v1::RunStudyRequest asked;
  ASSERT_TRUE(asked.ParseFromString(kept[0].request));
  EXPECT_EQ(BytesOf(asked), BytesOf(started_.request()));
  EXPECT_EQ(asked.samples_size(), 0);
}

TEST_F(StudyRunTest, SamplesThatAreSentComeBeforeThoseOfTheRun) {
  v1::RunStudyRequest request = Request("runs/run");
  *request.add_samples() = TextSample("abc");
  EXPECT_EQ(Study(request).tokens(), 3);
  EXPECT_THAT(Kept(), SizeIs(1));
}

TEST_F(StudyRunTest, TakesNoRunOfAnotherModelAndNoneThatIsNotThere) {
  v1::RunStudyRequest request = Request("runs/run");
  request.set_model("models/disk");
  Study(request);
  EXPECT_EQ(Reason(), "RUN_OF_ANOTHER_MODEL");
  Study(Request("runs/none"));
  EXPECT_EQ(Reason(), "RUN_NOT_FOUND");
  Study(Request("run"));
  EXPECT_EQ(Reason(), "INVALID_RUN_NAME");
}

TEST_F(StudyRunTest, ARunWithoutTokensCannotBeStudiedAgain) {
  std::vector<Record> records = Stored("run");
  for (Record& record : records) record.input.reset();
  NewRun run{.id = "bare", .model_id = "fake", .spec = store_.Get("run")->spec};
  ASSERT_TRUE(store_.Create(run, IfExists::kFail).ok());
  ASSERT_TRUE(store_.Append("bare", records).ok());
  Study(Request("runs/bare"));
  EXPECT_EQ(Reason(), "RUN_WITHOUT_TOKENS");
}

TEST_F(StudyRunTest, WithoutAStoreThereIsNoRun) {
  testing::RunningServer other;
  Study(Request("runs/run"), other.channel);
  EXPECT_EQ(Reason(), "STORE_OFF");
}

}  // namespace
}  // namespace sinkd
