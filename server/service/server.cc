#include "server/service/server.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <absl/strings/str_cat.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>

#include "server/base/status.h"
#include "server/net/counted_port.h"
#include "server/scheduler/device_pool.h"
#include "server/scheduler/watchdog.h"
#include "server/service/analyze/analysis_service.h"
#include "server/service/audit/audit_service.h"
#include "server/service/calls/admission.h"
#include "server/service/calls/call_gate.h"
#include "server/service/grpc_port.h"
#include "server/service/health_service.h"
#include "server/service/models/model_service.h"
#include "server/service/runs/run_service.h"
#include "server/service/server_service.h"
#include "server/service/studies/mechanism_service.h"
#include "server/telemetry/log.h"
#include "sinks/v1/audit.pb.h"

namespace sinkd {
namespace {

constexpr int kKeepaliveTimeMs = 60000;
constexpr int kKeepaliveTimeoutMs = 20000;
constexpr int kLeastPingIntervalMs = 10000;
constexpr int kHandshakeTimeoutMs = 10000;
constexpr int kCallsPerConnection = 1024;
// Limits of incomplete messages, in messages of the largest size.
constexpr int64_t kLargestMessagesOfAddress = 16;
constexpr int64_t kLargestMessages = 48;
// Memory of gRPC for connections, calls and messages, after which it ends calls.
constexpr int64_t kGrpcBytes = int64_t{512} << 20;
constexpr int64_t kGrpcLargestMessages = 64;
constexpr int kMaxMetadataBytes = 16 << 10;  // received, of one call
// What waits for the disk together is written together.
constexpr int kStoringThreads = 8;
// At Stop all calls have been aborted; only clients that do not read delay it.
constexpr std::chrono::seconds kLastWords{1};

// The files of the protocol that have services.
std::vector<const google::protobuf::FileDescriptor*> ServiceFiles() {
  return {sinks::v1::AnalyzeRequest::descriptor()->file(),
          sinks::v1::Model::descriptor()->file(),
          sinks::v1::RunStudyRequest::descriptor()->file(),
          sinks::v1::Run::descriptor()->file(),
          sinks::v1::AuditRunsRequest::descriptor()->file(),
          sinks::v1::ServerStatus::descriptor()->file()};
}

std::vector<std::string> ServiceNames() {
  std::vector<std::string> names;
  for (const google::protobuf::FileDescriptor* file : ServiceFiles()) {
    for (int i = 0; i < file->service_count(); ++i) names.push_back(file->service(i)->full_name());
  }
  return names;
}

// The guard's limits, raised where larger messages or more streams are allowed.
FrameLimits FrameLimitsFor(int64_t max_message_bytes, int64_t max_streams) {
  FrameLimits limits;
  limits.of_connection.calls = kCallsPerConnection;
  limits.of_address.calls = std::max(limits.of_address.calls, 2 * max_streams);
  limits.in_all.calls = std::max(limits.in_all.calls, 4 * max_streams);
  limits.of_address.message_bytes =
      std::max(limits.of_address.message_bytes, kLargestMessagesOfAddress * max_message_bytes);
  limits.of_connection.message_bytes = limits.of_address.message_bytes;
  limits.in_all.message_bytes =
      std::max(limits.in_all.message_bytes, kLargestMessages * max_message_bytes);
  return limits;
}

void LogException(const absl::Status& error) {
  Log(LogLevel::kError, "work ended with an exception",
      {{"error", std::string_view(error.message().data(), error.message().size())}});
}

}  // namespace

struct Server::Internals {
  Internals(const Options& options, ModelCatalog& catalog, Metrics& metrics, RunStore* store)
      : access(options.access),
        admission(options.max_streams,
                  CallersPart(options.max_streams, options.max_caller_percent)),
        devices({.when_full = "retry later, or raise the server's --max-queue",
                 .capacity = static_cast<size_t>(options.max_queue),
                 .caller_percent = options.max_caller_percent,
                 .on_exception = LogException}),
        // Each stream takes as many slots here as on its device, and there may be several devices.
        cpu({.name = "cpu workers",
             .threads = options.cpu_threads,
             .capacity = static_cast<size_t>(options.max_streams * options.limits.read_ahead),
             .on_exception = LogException}),
        storing({.name = "storing",
                 .threads = kStoringThreads,
                 .capacity = static_cast<size_t>(options.max_streams),
                 .on_exception = LogException}),
        calls{admission, metrics, options.times, options.max_caller_percent},
        health(calls, ServiceNames()),
        models(catalog, calls),
        runs(store, calls, options.limits.template_date),
        audits(store, calls),
        version(options.limits.version),
        status({version, std::chrono::system_clock::now(), catalog, admission, devices, health,
                metrics},
               calls),
        analysis(calls, {catalog, devices, groups, cpu, metrics, store, &storing}, options.limits),
        mechanism(calls, {catalog, devices, groups, cpu, metrics, store, &storing},
                  options.limits) {}

  void Watch(const Options& options, Metrics& metrics);

  std::unique_ptr<AccessControl> own_access;  // null where one was given
  AccessControl* access;
  Admission admission;
  DevicePool devices;
  ForwardGroups groups;
  Executor cpu;
  Executor storing;
  const CallResources calls;
  LocalCallers local_callers;
  HealthService health;
  ModelService models;
  RunService runs;
  AuditService audits;
  const std::string version;
  ServerService status;
  AnalysisService analysis;
  MechanismService mechanism;
  std::unique_ptr<grpc::Server> grpc;
  std::optional<GrpcPort> port;
  std::optional<Watchdog> watchdog;  // last: it uses the rest
};

void Server::Internals::Watch(const Options& options, Metrics& metrics) {
  watchdog.emplace(
      options.stuck_after, [this] { return devices.Snapshot(); },
      [this, &metrics, limit = options.stuck_after, on_stuck = options.on_stuck](
          const StuckExecutors::Change& change, int64_t stuck) {
        Log(change.stuck ? LogLevel::kError : LogLevel::kWarning,
            change.stuck ? "a device is stuck" : "a device continues",
            {{"device", change.name}, {"seconds", limit}});
        metrics.SetStuckDevices(stuck);
        health.SetStuck(stuck > 0);
        on_stuck(stuck > 0);
      });
}

std::vector<std::string> Server::Methods() {
  std::vector<std::string> methods;
  for (const google::protobuf::FileDescriptor* file : ServiceFiles()) {
    for (int i = 0; i < file->service_count(); ++i) {
      const google::protobuf::ServiceDescriptor* service = file->service(i);
      for (int j = 0; j < service->method_count(); ++j) {
        methods.push_back(absl::StrCat(service->full_name(), "/", service->method(j)->name()));
      }
    }
  }
  return methods;
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const Options& options, ModelCatalog& catalog,
                                                      Metrics& metrics, RunStore* store) {
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  auto internals = std::make_unique<Internals>(options, catalog, metrics, store);
  if (internals->access == nullptr) {
    SINKD_ASSIGN_OR_RETURN(internals->own_access, AccessControl::Open({}));
    internals->access = internals->own_access.get();
  }
  grpc::ServerBuilder builder;
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMaxMetadataBytes);
  // gRPC would inflate a message before it looks at its size, a thousandfold.
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  for (const grpc_compression_algorithm each : {GRPC_COMPRESS_DEFLATE, GRPC_COMPRESS_GZIP}) {
    builder.SetCompressionAlgorithmSupportStatus(each, false);
  }
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeTimeoutMs);
  SINKD_ASSIGN_OR_RETURN(
      GrpcPort port, GrpcPort::Open(options.listen, options.tls,
                                    FrameLimitsFor(options.max_message_bytes, options.max_streams),
                                    CountedPort("grpc", options.connections, metrics), builder));
  internals->port.emplace(std::move(port));
  grpc::ResourceQuota quota("grpc");
  quota.Resize(
      static_cast<size_t>(std::max(kGrpcBytes, kGrpcLargestMessages * options.max_message_bytes)));
  builder.SetResourceQuota(quota);
  builder.SetMaxReceiveMessageSize(static_cast<int>(options.max_message_bytes));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kLeastPingIntervalMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kCallsPerConnection);
  // Otherwise the window of a client grows with its bandwidth, and gRPC buffers what it sends in
  // pieces of 8 KiB, one per message, however small.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  const auto find_peer = [port = &*internals->port](std::string_view grpc_peer) {
    return port->PeerOf(grpc_peer);
  };
  AddCallGate(*internals->access, find_peer, internals->local_callers, metrics, builder);
  builder.RegisterService(&internals->health);
  builder.RegisterService(&internals->models);
  builder.RegisterService(&internals->runs);
  builder.RegisterService(&internals->audits);
  builder.RegisterService(&internals->status);
  builder.RegisterService(&internals->analysis);
  builder.RegisterService(&internals->mechanism);
  internals->grpc = builder.BuildAndStart();
  if (!internals->grpc) return Internal("gRPC did not start");
  SINKD_RETURN_IF_ERROR(internals->port->Serve());
  internals->Watch(options, metrics);
  return std::unique_ptr<Server>(new Server(std::move(internals)));
}

Server::Server(std::unique_ptr<Internals> internals) : internals_(std::move(internals)) {}

Server::~Server() {
  Stop();
}

int Server::port() const {
  return internals_->port->port();
}
std::string Server::address() const {
  return internals_->port->address();
}

std::shared_ptr<grpc::Channel> Server::LocalChannel() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);  // what this process makes itself
  return internals_->grpc->InProcessChannel(arguments);
}
LocalCallers& Server::local_callers() {
  return internals_->local_callers;
}

void Server::SetServing(bool serving) {
  internals_->health.SetServing(serving);
}

void Server::Close() {
  internals_->admission.Close();
}

bool Server::WaitUntilIdle(std::chrono::milliseconds timeout) {
  return internals_->admission.WaitUntilIdle(timeout);
}

void Server::EndCalls() {
  internals_->health.Shutdown();
  internals_->admission.Abort();
  internals_->port->Close();
  internals_->grpc->Shutdown(std::chrono::system_clock::now() + kLastWords);
  internals_->port->Stop();
  // What was stuck may have gone on and ended since the last look.
  internals_->watchdog->LookNow();
}

void Server::Stop() {
  EndCalls();
  internals_->devices.Shutdown(Executor::ShutdownMode::kCancel);
  internals_->cpu.Shutdown(Executor::ShutdownMode::kCancel);
  internals_->storing.Shutdown(Executor::ShutdownMode::kCancel);
  internals_->models.Shutdown();
  internals_->runs.Shutdown();
  internals_->audits.Shutdown();
  internals_->status.Shutdown();
}

}  // namespace sinkd
