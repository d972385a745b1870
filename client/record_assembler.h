// RecordAssembler: joins the parts of a record and checks that the server sends them in order.
//
// Thread-safety: none; for use by the reading thread only.
#pragma once

#include <cstdint>
#include <optional>

#include <absl/status/status.h>

#include "sinks/v1/analysis.pb.h"

namespace sinkd::client {

class RecordAssembler {
 public:
  // Adds a part. If it completes a record, the whole record is in `record`, without `continued`,
  // and `complete` is true. INTERNAL if the part is out of order: the record of another sample is
  // incomplete, or the sample already has its answer. Holds at most one record.
  absl::Status AddPart(sinks::v1::SampleRecord part, sinks::v1::SampleRecord& record,
                       bool& complete);

  // Notes that the answer for a sample is an error. INTERNAL as above.
  absl::Status AddError(int64_t sample_index);

  // INTERNAL if a record is incomplete: its last part did not arrive.
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
