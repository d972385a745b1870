// RunService: the gRPC face of stored runs. Everything waits for the store on threads of its own,
// never on gRPC's.
//
// Ownership: borrows what it is given, all of which must outlive the grpc::Server.
// Thread-safety: called by gRPC from any thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>

#include "server/scheduler/executor.h"
#include "server/service/calls/admission.h"
#include "server/service/calls/reply_stream.h"
#include "server/store/run_store.h"
#include "server/telemetry/metrics.h"
#include "sinks/v1/runs.grpc.pb.h"

namespace sinkd {

using RawRuns = sinks::v1::RunService;
using RawRunQueries = RawRuns::WithRawCallbackMethod_CreateRun<
    RawRuns::WithRawCallbackMethod_GetRun<RawRuns::WithRawCallbackMethod_ListRuns<
        RawRuns::WithRawCallbackMethod_UpdateRun<RawRuns::WithRawCallbackMethod_DeleteRun<
            RawRuns::WithRawCallbackMethod_ListSampleKeys<RawRuns::Service>>>>>>;
using RawRunService =
    RawRuns::WithRawCallbackMethod_StreamRecords<RawRuns::WithRawCallbackMethod_SummarizeRuns<
        RawRuns::WithRawCallbackMethod_ListStudies<RawRuns::WithRawCallbackMethod_ImportRecords<
            RawRuns::WithRawCallbackMethod_BackUpStore<RawRunQueries>>>>>;

class RunService final : public RawRunService {
 public:
  // `store` null: the server has none. `template_date` is that of specs that name none.
  RunService(RunStore* store, Admission& admission, Metrics& metrics, std::string template_date);

  grpc::ServerUnaryReactor* CreateRun(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* GetRun(grpc::CallbackServerContext* context,
                                   const grpc::ByteBuffer* request,
                                   grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* ListRuns(grpc::CallbackServerContext* context,
                                     const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* UpdateRun(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* DeleteRun(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* ListSampleKeys(grpc::CallbackServerContext* context,
                                           const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* response) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* StreamRecords(
      grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* SummarizeRuns(
      grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* ListStudies(grpc::CallbackServerContext* context,
                                                          const grpc::ByteBuffer* request) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* BackUpStore(grpc::CallbackServerContext* context,
                                                          const grpc::ByteBuffer* request) override;
  grpc::ServerReadReactor<grpc::ByteBuffer>* ImportRecords(grpc::CallbackServerContext* context,
                                                           grpc::ByteBuffer* response) override;

  void Shutdown();  // ends what waits, joins the threads

 private:
  absl::StatusOr<RunStore*> store() const;
  template <typename Request, typename Response>
  grpc::ServerUnaryReactor* Serve(
      grpc::CallbackServerContext* context, std::string_view method, const grpc::ByteBuffer* bytes,
      grpc::ByteBuffer* answer,
      std::function<absl::StatusOr<Response>(RunStore& store, const Request& request)> work);
  template <typename Request>
  ReplyStream* Stream(grpc::CallbackServerContext* context, std::string_view method,
                      const grpc::ByteBuffer& bytes,
                      std::function<absl::StatusOr<std::unique_ptr<ReplySource>>(
                          RunStore& store, const Request& request)>
                          open);

  RunStore* const store_;
  Metrics& metrics_;
  const std::string template_date_;
  Executor queries_;
  std::unique_ptr<Executor::Stream> waiting_queries_;
  Executor streams_;  // apart, since summaries and imports take long
  const ReplyStream::Resources stream_resources_;
};

// The page of runs that `request` asks for. Errors: those of DecodeList and RunStore.
absl::StatusOr<sinks::v1::ListRunsResponse> PageOfRuns(RunStore& store,
                                                       const sinks::v1::ListRunsRequest& request);

}  // namespace sinkd
