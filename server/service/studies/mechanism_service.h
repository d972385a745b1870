// MechanismService: the gRPC service of studies; each call is a StudyStream.
//
// Ownership: borrows its resources, all of which must outlive the grpc::Server.
// Thread-safety: called by gRPC from any thread.
#pragma once

#include <utility>

#include "server/service/analyze/stream_plan.h"
#include "server/service/calls/call_service.h"
#include "server/service/studies/study_stream.h"

namespace sinkd {

class MechanismService final : public CallService {
 public:
  MechanismService(const CallResources& calls, const StreamResources& resources,
                   StreamLimits limits)
      : CallService(calls), resources_(resources), limits_(std::move(limits)) {
    AddCall<StudyStream>("/sinks.v1.MechanismService/RunStudy", calls, &resources_, &limits_);
  }

 private:
  const StreamResources resources_;
  const StreamLimits limits_;
};

}  // namespace sinkd
