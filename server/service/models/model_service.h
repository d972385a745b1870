// ModelService: the gRPC service of models. Reading disks and freeing memory happens on the
// service's threads, never on gRPC's.
//
// Ownership: borrows its arguments, all of which must outlive the grpc::Server.
// Thread-safety: called by gRPC from any thread.
#pragma once

#include <vector>

#include <absl/status/statusor.h>

#include "server/scheduler/executor.h"
#include "server/service/calls/call_service.h"
#include "server/service/models/model_catalog.h"
#include "sinks/v1/models.pb.h"

namespace sinkd {

class ModelService final : public CallService {
 public:
  ModelService(ModelCatalog& catalog, const CallResources& calls);

  void Shutdown();  // drops waiting work and joins the threads

 private:
  Executor loads_;
  Executor queries_;
  Executor plans_;  // separate: a plan reads all headers of a checkpoint
};

// The requested page of `entries`, which are in the order of their ids. INVALID_ARGUMENT for an
// invalid page size or token.
absl::StatusOr<sinks::v1::ListModelsResponse> PageOfModels(
    const sinks::v1::ListModelsRequest& request, const std::vector<ModelEntry>& entries);

}  // namespace sinkd
