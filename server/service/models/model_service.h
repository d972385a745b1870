// ModelService: the gRPC face of the models. Whatever reads disk or frees memory runs on threads of
// its own, never on gRPC's.
//
// Ownership: borrows what it is given, all of which must outlive the grpc::Server.
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

  void Shutdown();  // ends what waits, joins the threads

 private:
  Executor loads_;
  Executor queries_;
  Executor plans_;  // apart, since a plan reads every header of a checkpoint
};

// The page of `entries` (by id) that `request` asks for. INVALID_ARGUMENT for a page size or token
// that is not one.
absl::StatusOr<sinks::v1::ListModelsResponse> PageOfModels(
    const sinks::v1::ListModelsRequest& request, const std::vector<ModelEntry>& entries);

}  // namespace sinkd
