// AnalysisService: the gRPC face of the analyses; each call is an AnalyzeStream.
//
// Ownership: borrows what its resources name, all of which must outlive the grpc::Server.
// Thread-safety: called by gRPC from any thread.
#pragma once

#include <utility>

#include "server/service/analyze/analyze_stream.h"
#include "server/service/analyze/stream_plan.h"
#include "server/service/calls/call_service.h"

namespace sinkd {

class AnalysisService final : public CallService {
 public:
  AnalysisService(const CallResources& calls, const StreamResources& resources, StreamLimits limits)
      : CallService(calls), resources_(resources), limits_(std::move(limits)) {
    AddCall<AnalyzeStream>("/sinks.v1.AnalysisService/Analyze", calls, &resources_, &limits_);
  }

 private:
  const StreamResources resources_;
  const StreamLimits limits_;
};

}  // namespace sinkd
