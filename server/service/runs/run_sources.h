// RunSources: what the streaming methods of RunService answer with.
//
// Ownership: borrow the store. Thread-safety: each is used by one thread at a time, which may wait.
#pragma once

#include <memory>

#include <absl/status/statusor.h>

#include "server/service/calls/reply_stream.h"
#include "server/store/run_store.h"
#include "sinks/v1/runs.pb.h"

namespace sinkd {

// Records by pages of the store, in messages of about 1 MiB at most.
absl::StatusOr<std::unique_ptr<ReplySource>> SendRecords(
    RunStore& store, const sinks::v1::StreamRecordsRequest& request);

// A summary a group, folded when its turn comes.
absl::StatusOr<std::unique_ptr<ReplySource>> SendSummaries(
    RunStore& store, const sinks::v1::SummarizeRunsRequest& request);

// A copy of the store, a MiB a message.
absl::StatusOr<std::unique_ptr<ReplySource>> SendBackup(
    RunStore& store, const sinks::v1::BackUpStoreRequest& request);

// A study a message.
absl::StatusOr<std::unique_ptr<ReplySource>> SendStudies(
    RunStore& store, const sinks::v1::ListStudiesRequest& request);

}  // namespace sinkd
