// RunKeeper: what an Analyze stream has to do with the run that keeps its records.
//
// Thread-safety: all methods may be called from any thread, after Open. They wait for the store, so
// they do not belong on a thread of gRPC's.
// Errors: those of RunStore.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "server/analysis/records.h"
#include "server/analysis/summary.h"
#include "server/store/run_store.h"

namespace sinkd {

// What a run holds of a sample: its record, or its error.
using StoredAnswer = absl::StatusOr<v1::SampleRecord>;

class RunKeeper {
 public:
  // `store` is borrowed; `spec` is complete and names the run.
  RunKeeper(RunStore& store, v1::AnalysisSpec spec);

  // Makes the run, or goes on with the one that is there; a complete one is opened again. What it
  // holds. ALREADY_EXISTS when that one is another question.
  absl::StatusOr<RunCounts> Open();

  // What the run holds of the sample, told as of sample `sample_index`; absent when it holds
  // nothing, or what is to be replaced. When it holds another input under this key, the answer is
  // ALREADY_EXISTS SAMPLE_DIFFERS.
  absl::StatusOr<std::optional<StoredAnswer>> Find(const std::string& key,
                                                   std::string_view input_digest,
                                                   int64_t sample_index);

  // Returns when all are on disk. Those that were there before are not kept again: their answers,
  // as Find gives them, in order with the sample's index.
  struct Earlier {
    int64_t sample_index = 0;
    StoredAnswer answer;
  };
  absl::StatusOr<std::vector<Earlier>> Keep(std::span<const Record> records);

  // The summary of all that the run holds.
  absl::StatusOr<v1::Summary> SumUp(const std::stop_token& stop);

  // At the end of the stream: the run is complete, unless it is to stay open.
  absl::Status Close();

 private:
  RunStore& store_;
  const v1::AnalysisSpec spec_;
};

}  // namespace sinkd
