// Daemon: a sinkd process from its configuration to its exit code.
//
// Life: the store is open -> ports open and answer (not ready) -> models of --load are in memory ->
// ready -> a signal: not ready, still serving for the drain delay -> new work is refused, running
// work may finish within the drain timeout -> what still runs is ended -> exit, at once and with 1
// where a device is stuck. Thread-safety:
// RequestStop may be called from any thread; Run once, from one.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include <absl/status/status.h>

#include "server/config/config.h"
#include "server/http/http_server.h"
#include "server/models/registry.h"
#include "server/readiness.h"
#include "server/retention.h"
#include "server/security.h"
#include "server/service/json/json_analysis.h"
#include "server/service/json/json_api.h"
#include "server/service/models/registry_catalog.h"
#include "server/service/server.h"
#include "server/store/run_store.h"
#include "server/telemetry/metrics.h"

namespace sinkd {

class Daemon {
 public:
  Daemon(Config config, std::string version);

  // Serves until RequestStop and drains; OK then. An error: the store could not be opened, a port
  // not be bound, or a model of --load not be loaded.
  absl::Status Run();

  void RequestStop(std::string why);
  // The same, in haste: what runs is ended, and Run returns `failure`.
  void Fail(absl::Status failure, std::string why);

  // Has tokens and certificate read again.
  void ReloadSoon();

 private:
  absl::Status OpenSecurity();
  absl::Status OpenStore();
  absl::Status OpenPorts();
  std::string RenderMetrics();
  void LoadModels(const std::stop_token& stop);  // on loader_
  void BecomeReady();
  void Drain();
  void NoteStuck(bool stuck);
  void ExitIfHeldUp();  // under the lock
  std::string HttpAddress() const;

  const Config config_;
  const std::string version_;
  Readiness readiness_{"models are being loaded"};
  Metrics metrics_;
  Registry registry_;
  RegistryCatalog catalog_{registry_};
  std::unique_ptr<Security> security_;  // of Run
  std::unique_ptr<RunStore> store_;     // null: runs are not kept
  std::optional<Retention> retention_;
  std::unique_ptr<Server> server_;
  std::optional<JsonApi> api_;
  JsonAnalysis analysis_;
  std::unique_ptr<HttpServer> http_;

  std::mutex mutex_;
  std::condition_variable stopping_;
  std::optional<std::string> why_stop_;
  absl::Status failure_;
  bool stuck_ = false;  // a device is
  bool ended_ = false;  // all calls have been, and only threads are waited for

  std::jthread loader_;  // last: it uses all the rest
};

}  // namespace sinkd
