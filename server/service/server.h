// Server: the gRPC server with all services, from the open port to the last call.
//
// Life, in order: Start (health says NOT_SERVING, calls are answered), SetServing(true),
// SetServing(false) when it is to stop, Close (new streams and loads get UNAVAILABLE),
// WaitUntilIdle, EndCalls, Stop. Any may be left out.
//
// Ownership: borrows catalog, metrics and store, which must outlive it; owns its threads.
// Thread-safety: all methods may be called from any thread, Stop and the destructor from one.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>
#include <grpcpp/channel.h>

#include "server/access/access_control.h"
#include "server/access/tls_identity.h"
#include "server/net/open_connections.h"
#include "server/service/analyze/stream_plan.h"
#include "server/service/calls/call.h"
#include "server/service/calls/local_callers.h"
#include "server/service/models/model_catalog.h"
#include "server/store/run_store.h"
#include "server/telemetry/metrics.h"

namespace sinkd {

class Server {
 public:
  struct Options {
    std::string listen = "127.0.0.1:0";  // as net/listener.h has it
    ConnectionLimits connections;
    AccessControl* access = nullptr;      // borrowed; null: everyone may do everything
    const TlsIdentity* tls = nullptr;     // borrowed; null: plaintext
    int64_t max_message_bytes = 8 << 20;  // received
    int64_t max_queue = 2048;             // samples waiting, over all streams, by device
    int64_t max_streams = 64;
    int64_t max_caller_percent = 100;  // of every kind of work, from which on a caller gets no more
    CallTimes times;
    int cpu_threads = 2;  // for encoding and analysing, beside the device's threads
    std::chrono::milliseconds stuck_after{30000};            // as scheduler/watchdog.h has it
    std::function<void(bool stuck)> on_stuck = [](bool) {};  // whether a device is, on a change
    StreamLimits limits;
  };

  // Full names of all methods, for Metrics.
  static std::vector<std::string> Methods();

  // INVALID_ARGUMENT for a `listen` that is no address; UNAVAILABLE when it cannot be bound.
  // `store` null: the server keeps no runs.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const Options& options,
                                                       ModelCatalog& catalog, Metrics& metrics,
                                                       RunStore* store = nullptr);
  ~Server();  // Stop
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const;
  std::string address() const;  // as bound

  // To this server from within its process. Whoever calls over it first enters himself here.
  std::shared_ptr<grpc::Channel> LocalChannel();
  LocalCallers& local_callers();

  void SetServing(bool serving);
  void Close();
  bool WaitUntilIdle(std::chrono::milliseconds timeout);

  // Ends what still runs with UNAVAILABLE, and returns when its clients have been told.
  void EndCalls();
  // The same, and returns when all threads are gone, which that of a device that is stuck never is.
  void Stop();

 private:
  struct Internals;
  explicit Server(std::unique_ptr<Internals> internals);
  std::unique_ptr<Internals> internals_;
};

}  // namespace sinkd
