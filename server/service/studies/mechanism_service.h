// MechanismService: the gRPC face of the studies; each call is a StudyStream.
//
// Ownership: borrows what its resources name, all of which must outlive the grpc::Server.
// Thread-safety: called by gRPC from any thread.
#pragma once

#include <utility>

#include "server/service/analyze/stream_plan.h"
#include "server/service/studies/study_stream.h"
#include "sinks/v1/mechanism.grpc.pb.h"

namespace sinkd {

class MechanismService final : public sinks::v1::MechanismService::WithRawCallbackMethod_RunStudy<
                                   sinks::v1::MechanismService::Service> {
 public:
  MechanismService(const StreamResources& resources, StreamLimits limits)
      : resources_(resources), limits_(std::move(limits)) {}

  grpc::ServerWriteReactor<grpc::ByteBuffer>* RunStudy(grpc::CallbackServerContext* context,
                                                       const grpc::ByteBuffer* request) override {
    return StudyStream::Begin(context, *request, resources_, limits_);
  }

 private:
  const StreamResources resources_;
  const StreamLimits limits_;
};

}  // namespace sinkd
