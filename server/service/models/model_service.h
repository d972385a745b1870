// ModelService: the gRPC face of the models. Whatever reads disk or frees memory runs on threads of
// its own, never on gRPC's.
//
// Ownership: borrows what it is given, all of which must outlive the grpc::Server.
// Thread-safety: called by gRPC from any thread.
#pragma once

#include <memory>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "server/scheduler/executor.h"
#include "server/service/models/load_stream.h"
#include "server/service/models/model_catalog.h"
#include "sinks/v1/models.grpc.pb.h"

namespace sinkd {

using RawModelService = sinks::v1::ModelService::WithRawCallbackMethod_ListModels<
    sinks::v1::ModelService::WithRawCallbackMethod_GetModel<
        sinks::v1::ModelService::WithRawCallbackMethod_PlanModel<
            sinks::v1::ModelService::WithRawCallbackMethod_LoadModel<
                sinks::v1::ModelService::WithRawCallbackMethod_UnloadModel<
                    sinks::v1::ModelService::WithRawCallbackMethod_ListFamilies<
                        sinks::v1::ModelService::Service>>>>>>;

class ModelService final : public RawModelService {
 public:
  ModelService(ModelCatalog& catalog, Admission& admission, Metrics& metrics);

  grpc::ServerUnaryReactor* ListModels(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* GetModel(grpc::CallbackServerContext* context,
                                     const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* PlanModel(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* LoadModel(grpc::CallbackServerContext* context,
                                                        const grpc::ByteBuffer* request) override;
  grpc::ServerUnaryReactor* UnloadModel(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* ListFamilies(grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) override;

  void Shutdown();  // ends what waits, joins the threads

 private:
  ModelCatalog& catalog_;
  Metrics& metrics_;
  Executor loads_;
  const LoadStream::Resources load_resources_;
  Executor queries_;
  std::unique_ptr<Executor::Stream> waiting_queries_;
  Executor plans_;  // apart, since a plan reads every header of a checkpoint
  std::unique_ptr<Executor::Stream> waiting_plans_;
};

// The page of `entries` (by id) that `request` asks for. INVALID_ARGUMENT for a page size or token
// that is not one.
absl::StatusOr<sinks::v1::ListModelsResponse> PageOfModels(
    const sinks::v1::ListModelsRequest& request, const std::vector<ModelEntry>& entries);

}  // namespace sinkd
