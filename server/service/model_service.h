// ModelService: the gRPC face of the models. Whatever reads disk or frees memory runs on threads of
// its own, never on gRPC's.
//
// Ownership: borrows what it is given, all of which must outlive the grpc::Server.
// Thread-safety: called by gRPC from any thread.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "server/scheduler/executor.h"
#include "server/service/load_stream.h"
#include "server/service/model_catalog.h"
#include "sinks/v1/models.grpc.pb.h"

namespace sinkd {

class ModelService final : public sinks::v1::ModelService::CallbackService {
 public:
  ModelService(ModelCatalog& catalog, Admission& admission, Metrics& metrics);

  grpc::ServerUnaryReactor* ListModels(grpc::CallbackServerContext* context,
                                       const sinks::v1::ListModelsRequest* request,
                                       sinks::v1::ListModelsResponse* response) override;
  grpc::ServerUnaryReactor* GetModel(grpc::CallbackServerContext* context,
                                     const sinks::v1::GetModelRequest* request,
                                     sinks::v1::GetModelResponse* response) override;
  grpc::ServerWriteReactor<sinks::v1::LoadModelResponse>* LoadModel(
      grpc::CallbackServerContext* context, const sinks::v1::LoadModelRequest* request) override;
  grpc::ServerUnaryReactor* UnloadModel(grpc::CallbackServerContext* context,
                                        const sinks::v1::UnloadModelRequest* request,
                                        sinks::v1::UnloadModelResponse* response) override;

  void Shutdown();  // ends what waits, joins the threads

 private:
  grpc::ServerUnaryReactor* Serve(grpc::CallbackServerContext* context, std::string_view method,
                                  std::function<absl::Status()> work);

  ModelCatalog& catalog_;
  Metrics& metrics_;
  Executor loads_;
  const LoadStream::Resources load_resources_;
  Executor queries_;
  std::unique_ptr<Executor::Stream> waiting_queries_;
};

// The page of `entries` (by id) that `request` asks for. INVALID_ARGUMENT for a page size or token
// that is not one.
absl::StatusOr<sinks::v1::ListModelsResponse> PageOfModels(
    const sinks::v1::ListModelsRequest& request, const std::vector<ModelEntry>& entries);

}  // namespace sinkd
