#include "server/service/runs/run_keeper.h"

#include <utility>

#include "server/base/status.h"
#include "server/service/calls/status_mapping.h"
#include "server/service/runs/codec_run.h"
#include "server/service/runs/run_fold.h"
#include "server/service/runs/stored_record.h"

namespace sinkd {

RunKeeper::RunKeeper(RunStore& store, StreamSpec spec) : store_(store), spec_(std::move(spec)) {}

absl::StatusOr<int64_t> RunKeeper::Open() {
  SINKD_ASSIGN_OR_RETURN(const Run run, store_.Create(MakeNewRun(spec_), IfExists::kContinue));
  if (run.state != RunState::kOpen) {
    SINKD_RETURN_IF_ERROR(store_.SetState(run.id, RunState::kOpen));
  }
  return run.counts.samples;
}

absl::StatusOr<std::optional<StoredAnswer>> RunKeeper::Find(const std::string& key,
                                                            int64_t sample_index) {
  SINKD_ASSIGN_OR_RETURN(const std::optional<Record> stored, store_.Find(spec_.run_id, key));
  if (!stored) return std::optional<StoredAnswer>();
  if (stored->failed) {
    SINKD_ASSIGN_OR_RETURN(const sinks::v1::SampleError error, ReadFailure(*stored));
    const absl::Status status = FromRpcStatus(error.status());
    return std::optional<StoredAnswer>(status.ok() ? Internal("a failed sample has no error")
                                                   : status);
  }
  SINKD_ASSIGN_OR_RETURN(SampleRecord record, ReadPayload(*stored));
  record.sample_index = sample_index;
  return std::optional<StoredAnswer>(std::move(record));
}

absl::StatusOr<std::vector<RunKeeper::Earlier>> RunKeeper::Keep(std::span<const Record> records) {
  SINKD_ASSIGN_OR_RETURN(const std::vector<bool> added, store_.Append(spec_.run_id, records));
  std::vector<Earlier> earlier;
  for (size_t i = 0; i < records.size(); ++i) {
    if (added[i]) continue;
    const int64_t index = records[i].sample_index;
    SINKD_ASSIGN_OR_RETURN(std::optional<StoredAnswer> found, Find(records[i].sample_key, index));
    if (found) earlier.push_back({.sample_index = index, .answer = *std::move(found)});
  }
  return earlier;
}

absl::StatusOr<SummaryReport> RunKeeper::SumUp(const std::stop_token& stop) {
  RunFold fold(spec_.analysis, {});
  SINKD_RETURN_IF_ERROR(fold.Add(store_, spec_.run_id, stop));
  return fold.Report();
}

absl::Status RunKeeper::Close() {
  if (spec_.keep_run_open) return absl::OkStatus();
  return store_.SetState(spec_.run_id, RunState::kComplete);
}

}  // namespace sinkd
