// FakeRuns: sinks.v1.RunService in memory, for a FakeServer.
//
// Thread-safety: `runs` is set before the first call; the rest may be read from any thread.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "sinks/v1/runs.grpc.pb.h"

namespace sinkd::testing {

class FakeRuns final : public sinks::v1::RunService::Service {
 public:
  // runs/alpha-1 and runs/beta-1, of one sample each.
  FakeRuns();

  // What there is, newest first; two a page.
  std::vector<sinks::v1::Run> runs;
  // The keys of every run, two a page, and its records.
  std::vector<std::string> keys = {"one", "two", "three"};
  std::vector<std::string> input_digests;  // of each key; empty: an older server, which tells none
  std::string store = "all of the store";  // two pieces of a backup
  int64_t store_bytes = 16;                // that are told
  std::vector<sinks::v1::StoredRecord> records;

  sinks::v1::ListRunsRequest list_request() const;
  sinks::v1::SummarizeRunsRequest summarize_request() const;
  sinks::v1::StreamRecordsRequest records_request() const;
  // All messages of the last import.
  std::vector<sinks::v1::ImportRecordsRequest> import_requests() const;

  grpc::Status GetRun(grpc::ServerContext*, const sinks::v1::GetRunRequest* request,
                      sinks::v1::GetRunResponse* response) override;
  grpc::Status ListRuns(grpc::ServerContext*, const sinks::v1::ListRunsRequest* request,
                        sinks::v1::ListRunsResponse* response) override;
  grpc::Status UpdateRun(grpc::ServerContext*, const sinks::v1::UpdateRunRequest* request,
                         sinks::v1::UpdateRunResponse* response) override;
  grpc::Status DeleteRun(grpc::ServerContext*, const sinks::v1::DeleteRunRequest* request,
                         sinks::v1::DeleteRunResponse* response) override;
  grpc::Status ListSampleKeys(grpc::ServerContext*, const sinks::v1::ListSampleKeysRequest* request,
                              sinks::v1::ListSampleKeysResponse* response) override;
  grpc::Status StreamRecords(grpc::ServerContext*, const sinks::v1::StreamRecordsRequest* request,
                             grpc::ServerWriter<sinks::v1::StreamRecordsResponse>* writer) override;
  // One summary, or one for each run when it is grouped; in numeric order those of 512 and 1e3.
  grpc::Status SummarizeRuns(grpc::ServerContext*, const sinks::v1::SummarizeRunsRequest* request,
                             grpc::ServerWriter<sinks::v1::SummarizeRunsResponse>* writer) override;
  grpc::Status BackUpStore(grpc::ServerContext*, const sinks::v1::BackUpStoreRequest* request,
                           grpc::ServerWriter<sinks::v1::BackUpStoreResponse>* writer) override;
  grpc::Status ImportRecords(grpc::ServerContext*,
                             grpc::ServerReader<sinks::v1::ImportRecordsRequest>* reader,
                             sinks::v1::ImportRecordsResponse* response) override;

 private:
  sinks::v1::Run* Find(const std::string& name);
  static void AddSeries(sinks::v1::SummarizeRunsResponse& response);

  mutable std::mutex mutex_;
  sinks::v1::ListRunsRequest list_request_;
  sinks::v1::SummarizeRunsRequest summarize_request_;
  sinks::v1::StreamRecordsRequest records_request_;
  std::vector<sinks::v1::ImportRecordsRequest> import_requests_;
};

}  // namespace sinkd::testing
