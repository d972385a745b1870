// CodecLane: lanes, from proto to enum and back.
//
// Thread-safety: pure functions. Errors: INVALID_ARGUMENT naming the field.
#pragma once

#include <string>

#include <absl/status/statusor.h>

#include "server/scheduler/fair_order.h"
#include "sinks/v1/analysis.pb.h"

namespace sinkd {

// `kept`: a run stores the results, so the default is the batch lane.
absl::StatusOr<Lane> DecodeLane(sinks::v1::Lane lane, bool kept, const std::string& field);

sinks::v1::Lane EncodeLane(Lane lane);

}  // namespace sinkd
