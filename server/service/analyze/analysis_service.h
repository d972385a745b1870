// AnalysisService: the gRPC face of the analyses; each call is an AnalyzeStream.
//
// Ownership: borrows what its resources name, all of which must outlive the grpc::Server.
// Thread-safety: called by gRPC from any thread.
#pragma once

#include <utility>

#include "server/service/analyze/analyze_stream.h"
#include "server/service/analyze/stream_plan.h"
#include "sinks/v1/analysis.grpc.pb.h"

namespace sinkd {

class AnalysisService final : public sinks::v1::AnalysisService::WithRawCallbackMethod_Analyze<
                                  sinks::v1::AnalysisService::Service> {
 public:
  AnalysisService(const StreamResources& resources, StreamLimits limits)
      : resources_(resources), limits_(std::move(limits)) {}

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Analyze(
      grpc::CallbackServerContext* context) override {
    return AnalyzeStream::Begin(context, resources_, limits_);
  }

 private:
  const StreamResources resources_;
  const StreamLimits limits_;
};

}  // namespace sinkd
