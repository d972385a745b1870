// DecodeRecord: a record of a sample, proto to struct: one that was stored, or made elsewhere.
//
// Thread-safety: pure functions.
#pragma once

#include <absl/status/statusor.h>

#include "server/analysis/records.h"
#include "sinks/v1/records.pb.h"

namespace sinkd {

// A whole record, its parts joined; what EncodeRecord makes of it is the message again.
// INVALID_ARGUMENT naming the record for what Summary::Add would not take, a kind that is none, a
// number out of its range, or a part of a record.
absl::StatusOr<SampleRecord> DecodeRecord(const sinks::v1::SampleRecord& proto);

}  // namespace sinkd
