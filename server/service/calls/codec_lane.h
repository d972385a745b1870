// CodecLane: how urgent work is, proto to enum and back.
//
// Thread-safety: pure functions. Errors: INVALID_ARGUMENT naming the field.
#pragma once

#include <string>

#include <absl/status/statusor.h>

#include "server/scheduler/fair_order.h"
#include "sinks/v1/analysis.pb.h"

namespace sinkd {

// `kept`: a run keeps the work, which makes it batch work unless it says otherwise.
absl::StatusOr<Lane> DecodeLane(sinks::v1::Lane lane, bool kept, const std::string& field);

sinks::v1::Lane EncodeLane(Lane lane);

}  // namespace sinkd
