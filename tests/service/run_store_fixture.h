// KeptRuns: a server over a fake catalog that keeps runs in a SQLite file of the test's own.
#pragma once

#include <functional>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "analyze_call.h"
#include "running_server.h"
#include "server/store/run_store.h"
#include "sinks/v1/runs.grpc.pb.h"
#include "tests/store/backend.h"

namespace sinkd::testing {

// A store that passes everything on, and in between does what a test asks for.
class WatchedStore final : public RunStore {
 public:
  explicit WatchedStore(std::unique_ptr<RunStore> store) : store_(std::move(store)) {}

  // Called before an append; an error is what Append answers with. To be set before the server
  // runs.
  std::function<absl::Status(std::span<const Record>)> before_append;
  // Called before records are read.
  std::function<void()> before_read;
  // The method that throws std::bad_alloc, if any. To be set while no call runs.
  std::string out_of_memory_in;

  absl::StatusOr<Run> Create(const NewRun& run, IfExists if_exists) override {
    MayThrow("Create");
    return store_->Create(run, if_exists);
  }
  absl::StatusOr<Run> Get(std::string_view run_id) override { return store_->Get(run_id); }
  absl::StatusOr<RunPage> List(const ListOptions& options) override {
    return store_->List(options);
  }
  absl::Status SetState(std::string_view run_id, RunState state) override {
    return store_->SetState(run_id, state);
  }
  absl::Status Delete(std::string_view run_id) override { return store_->Delete(run_id); }
  using RunStore::Append;
  absl::StatusOr<std::vector<Kept>> Append(std::string_view run_id, std::span<const Record> records,
                                           const AppendOptions& options) override {
    MayThrow("Append");
    if (before_append) {
      if (absl::Status status = before_append(records); !status.ok()) return status;
    }
    return store_->Append(run_id, records, options);
  }
  absl::StatusOr<KeyPage> ListKeys(std::string_view run_id, int64_t after, int limit) override {
    return store_->ListKeys(run_id, after, limit);
  }
  absl::StatusOr<std::vector<Record>> ReadRecords(std::string_view run_id,
                                                  const ReadOptions& options) override {
    MayThrow("ReadRecords");
    if (before_read) before_read();
    return store_->ReadRecords(run_id, options);
  }
  absl::StatusOr<std::optional<Record>> Find(std::string_view run_id,
                                             std::string_view sample_key) override {
    MayThrow("Find");
    return store_->Find(run_id, sample_key);
  }
  absl::Status AddStudy(std::string_view run_id, const StoredStudy& study) override {
    MayThrow("AddStudy");
    return store_->AddStudy(run_id, study);
  }
  absl::StatusOr<std::optional<StoredStudy>> NextStudy(std::string_view run_id,
                                                       int64_t after) override {
    return store_->NextStudy(run_id, after);
  }
  absl::StatusOr<Pruned> Prune(const PrunePolicy& policy) override { return store_->Prune(policy); }
  absl::StatusOr<int64_t> SizeOnDisk() override { return store_->SizeOnDisk(); }
  absl::StatusOr<std::unique_ptr<StoreCopy>> Copy(const std::stop_token& stop) override {
    return store_->Copy(stop);
  }

 private:
  void MayThrow(std::string_view method) const {
    if (method == out_of_memory_in) throw std::bad_alloc();
  }

  const std::unique_ptr<RunStore> store_;
};

// Everything a stream said.
struct Heard {
  sinks::v1::AnalyzeStarted started;
  std::vector<sinks::v1::SampleRecord> records;
  std::vector<sinks::v1::SampleError> errors;
  sinks::v1::Summary summary;
  grpc::Status status;
};

// The bytes of a message, the same for the same values in whatever order its maps stand.
std::string BytesOf(const google::protobuf::Message& message);

class KeptRuns : public ::testing::Test {
 protected:
  KeptRuns();

  // Sends the samples to a stream of this spec and hears it to its end.
  Heard Analyze(const sinks::v1::AnalysisSpec& spec, const std::vector<sinks::v1::Sample>& samples);
  // A spec with levels and scores, for run `run`.
  static sinks::v1::AnalysisSpec RunSpec(const std::string& run);
  std::vector<Record> Stored(const std::string& run);

  const std::unique_ptr<Backend> backend_ = MakeBackend("Sqlite");
  WatchedStore store_;
  RunningServer running_;
  sinks::v1::RunService::Stub runs_;
};

}  // namespace sinkd::testing
