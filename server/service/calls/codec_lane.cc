#include "server/service/calls/codec_lane.h"

#include "server/base/parameter_check.h"

namespace sinkd {

absl::StatusOr<Lane> DecodeLane(sinks::v1::Lane lane, bool kept, const std::string& field) {
  switch (lane) {
    case sinks::v1::LANE_UNSPECIFIED:
      return kept ? Lane::kBatch : Lane::kInteractive;
    case sinks::v1::LANE_INTERACTIVE:
      return Lane::kInteractive;
    case sinks::v1::LANE_BATCH:
      return Lane::kBatch;
    default:
      return UnknownEnum(field, lane, sinks::v1::LANE_INTERACTIVE, sinks::v1::Lane_MAX);
  }
}

sinks::v1::Lane EncodeLane(Lane lane) {
  return lane == Lane::kBatch ? sinks::v1::LANE_BATCH : sinks::v1::LANE_INTERACTIVE;
}

}  // namespace sinkd
