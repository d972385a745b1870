// A store that throws, as the standard library does when memory is short, ends no more than the
// call.
#include <gtest/gtest.h>

#include "error_details.h"
#include "run_store_fixture.h"
#include "server/service/json/json_api.h"
#include "sinks/v1/mechanism.grpc.pb.h"

namespace sinkd {
namespace {

namespace v1 = ::sinks::v1;
using testing::DetailsOf;
using testing::Heard;
using testing::TextSample;

class StoreExceptionsTest : public testing::KeptRuns {
 protected:
  Heard AnalyzeTo(const std::string& run) {
    return Analyze(RunSpec(run), {TextSample("a!b", "one"), TextSample("c!!d", "two")});
  }

  static void ExpectOutOfMemory(const grpc::Status& status) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << status.error_message();
    EXPECT_EQ(DetailsOf(status).info->reason(), "OUT_OF_MEMORY");
  }

  // A study of the run; `samples` become those of its report.
  grpc::Status StudyRun(int64_t* samples) {
    v1::RunStudyRequest request;
    request.set_model("models/fake");
    request.mutable_norms();
    request.set_run("runs/run");
    grpc::ClientContext context;
    const auto stream =
        v1::MechanismService::NewStub(running_.channel)->RunStudy(&context, request);
    v1::RunStudyResponse response;
    while (stream->Read(&response)) *samples += response.report().samples();
    return stream->Finish();
  }

  // The next call finds nothing of the fault.
  void ExpectServes() {
    store_.out_of_memory_in.clear();
    const Heard heard = AnalyzeTo("next");
    EXPECT_TRUE(heard.status.ok()) << heard.status.error_message();
    EXPECT_EQ(heard.summary.samples(), 2);
  }
};

class AnyStoreException : public StoreExceptionsTest,
                          public ::testing::WithParamInterface<const char*> {};

TEST_P(AnyStoreException, EndsTheStreamThatKeepsARun) {
  store_.out_of_memory_in = GetParam();
  ExpectOutOfMemory(AnalyzeTo("run").status);
  ExpectServes();
}

// To open the run, to write records, to sum them up.
INSTANTIATE_TEST_SUITE_P(In, AnyStoreException,
                         ::testing::Values("Create", "Append", "ReadRecords"),
                         [](const auto& method) { return std::string(method.param); });

TEST_F(StoreExceptionsTest, EndsTheSampleThatIsLookedFor) {
  store_.out_of_memory_in = "Find";
  const Heard heard = AnalyzeTo("run");
  EXPECT_TRUE(heard.status.ok()) << heard.status.error_message();
  ASSERT_EQ(heard.errors.size(), 2u);
  EXPECT_EQ(DetailsOf(heard.errors[0].status()).info->reason(), "OUT_OF_MEMORY");
  ExpectServes();
}

TEST_F(StoreExceptionsTest, EndsTheImport) {
  ASSERT_TRUE(AnalyzeTo("run").status.ok());
  v1::ImportRecordsRequest request;
  request.mutable_header()->set_run_id("imported");
  *request.mutable_header()->mutable_spec() = RunSpec("");
  v1::StoredRecord& record = *request.add_records();
  record.set_sample_key("one");
  ASSERT_TRUE(record.mutable_record()->ParseFromString(Stored("run")[0].payload));
  for (const char* method : {"Create", "Append"}) {
    store_.out_of_memory_in = method;
    grpc::ClientContext context;
    v1::ImportRecordsResponse response;
    const auto stream = runs_.ImportRecords(&context, &response);
    stream->Write(request);
    stream->WritesDone();
    ExpectOutOfMemory(stream->Finish());
  }
  ExpectServes();
}

TEST_F(StoreExceptionsTest, TellsTheReportOfAStudyThatCannotBeKept) {
  ASSERT_TRUE(AnalyzeTo("run").status.ok());
  store_.out_of_memory_in = "AddStudy";
  int64_t samples = 0;
  ExpectOutOfMemory(StudyRun(&samples));
  EXPECT_EQ(samples, 2);
  ExpectServes();
}

TEST_F(StoreExceptionsTest, EndsTheStudyWhoseSamplesCannotBeRead) {
  ASSERT_TRUE(AnalyzeTo("run").status.ok());
  store_.out_of_memory_in = "ReadRecords";
  int64_t samples = 0;
  ExpectOutOfMemory(StudyRun(&samples));
  ExpectServes();
}

TEST_F(StoreExceptionsTest, IsAnErrorOfTheJsonApi) {
  ASSERT_TRUE(AnalyzeTo("run").status.ok());
  JsonApi api(running_.catalog, &store_);
  store_.out_of_memory_in = "ReadRecords";
  for (const char* what : {"summary", "records"}) {
    const HttpAnswer answer = api.Answer({.path = {"api", "v1", "runs", "run", what}}, {});
    EXPECT_EQ(answer.status, 429);
    EXPECT_NE(answer.body.find("OUT_OF_MEMORY"), std::string::npos) << answer.body;
  }
  store_.out_of_memory_in.clear();
  EXPECT_EQ(api.Answer({.path = {"api", "v1", "runs", "run", "summary"}}, {}).status, 200);
}

}  // namespace
}  // namespace sinkd
