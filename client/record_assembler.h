// RecordAssembler: joins the parts of one record and holds the server to its order.
//
// Thread-safety: none; belongs to the reading thread.
#pragma once

#include <cstdint>
#include <optional>

#include <absl/status/status.h>

#include "sinks/v1/analysis.pb.h"

namespace sinkd::client {

class RecordAssembler {
 public:
  // Takes a part. When it completes a record, the whole of it is in `record` and `complete` is
  // true; `continued` is then absent. INTERNAL when the part does not belong here: another sample's
  // record is open, or the sample was answered before. Holds one record at most.
  absl::Status AddPart(sinks::v1::SampleRecord part, sinks::v1::SampleRecord& record,
                       bool& complete);

  // Notes that a sample was answered with an error. INTERNAL as above.
  absl::Status AddError(int64_t sample_index);

  // INTERNAL when a record is still open: its last part never came.
  absl::Status Finish() const;

  // Samples answered so far.
  int64_t answered() const { return answered_; }

 private:
  absl::Status CheckIndex(int64_t sample_index) const;

  std::optional<sinks::v1::SampleRecord> open_;
  int64_t last_index_ = -1;  // of the last sample answered
  int64_t answered_ = 0;
};

}  // namespace sinkd::client
