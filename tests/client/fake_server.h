// FakeServer: the sinks.v1 services in this process, with scripted answers.
//
// Analyze answers sample i with MakeRecord(i, sample) and ends with MakeSummary, unless the script
// says otherwise. Thread-safety: scripts are set before the first call; counters may be read from
// any thread.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <grpcpp/server.h>

#include "sinks/v1/analysis.grpc.pb.h"
#include "sinks/v1/mechanism.grpc.pb.h"
#include "sinks/v1/models.grpc.pb.h"
#include "tests/client/fake_answers.h"
#include "tests/client/fake_runs.h"
#include "tests/client/fake_study_answers.h"

namespace sinkd::testing {

using AnalyzeStream =
    grpc::ServerReaderWriter<sinks::v1::AnalyzeResponse, sinks::v1::AnalyzeRequest>;

// A status with ErrorInfo(reason), BadRequest(field) and, when positive, RetryInfo.
grpc::Status MakeError(grpc::StatusCode code, const std::string& message, const std::string& reason,
                       const std::string& field = "", int retry_milliseconds = 0);

class FakeServer {
 public:
  FakeServer();
  ~FakeServer();

  // "127.0.0.1:PORT".
  const std::string& address() const { return address_; }
  std::shared_ptr<grpc::Channel> MakeChannel() const;

  // Replaces the whole of Analyze.
  std::function<grpc::Status(grpc::ServerContext&, AnalyzeStream&)> analyze;
  // Samples that get this error instead of a record, by index.
  std::map<int64_t, grpc::Status> sample_errors;
  // Statuses of the next unary calls, first to last; then OK.
  std::vector<grpc::Status> unary_failures;
  // Answers of LoadModel before its end.
  grpc::Status load_status;
  // Models that ListModels returns, two a page.
  std::vector<sinks::v1::Model> models;
  // Memory that plans find free; models/alpha needs 3 GiB resident, 600 MiB streamed.
  int64_t free_bytes = int64_t{22} << 30;
  std::vector<std::string> evicted;  // models that a planned load unloads
  sinks::v1::ListFamiliesResponse families = MakeFamilies();
  // Changes the report of a study before it is sent.
  std::function<void(sinks::v1::StudyReport&)> edit_report;
  // What a study ends with; without OK there is no report.
  grpc::Status study_status;

  FakeRuns runs;

  std::atomic<int> unary_calls = 0;
  std::atomic<int64_t> samples_received = 0;
  std::atomic<int> cancelled_streams = 0;
  // Of the last Analyze.
  sinks::v1::AnalysisSpec last_spec() const;
  std::vector<sinks::v1::Sample> last_samples() const;
  // Of all calls of PlanModel and of RunStudy, first to last.
  std::vector<sinks::v1::PlanModelRequest> plan_requests() const;
  std::vector<sinks::v1::RunStudyRequest> study_requests() const;
  std::string last_request_id() const;

 private:
  class Models;
  class Analysis;
  class Mechanism;

  grpc::Status NextUnary(grpc::ServerContext& context);
  grpc::Status Analyze(grpc::ServerContext& context, AnalyzeStream& stream);

  mutable std::mutex mutex_;
  sinks::v1::AnalysisSpec spec_;                            // guarded by mutex_
  std::vector<sinks::v1::Sample> samples_;                  // guarded by mutex_
  std::string request_id_;                                  // guarded by mutex_
  std::vector<sinks::v1::PlanModelRequest> plan_requests_;  // guarded by mutex_
  std::unique_ptr<Models> models_service_;
  std::vector<sinks::v1::RunStudyRequest> study_requests_;  // guarded by mutex_
  std::unique_ptr<Analysis> analysis_service_;
  std::unique_ptr<Mechanism> mechanism_service_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

}  // namespace sinkd::testing
