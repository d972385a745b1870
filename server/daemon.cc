#include "server/daemon.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/config/config_values.h"
#include "server/configured_store.h"
#include "server/engine/memory/own_thread.h"
#include "server/models/checkpoint_loader.h"
#include "server/net/counted_port.h"
#include "server/port_file.h"
#include "server/telemetry/log.h"

namespace sinkd {
namespace {

constexpr int kExitFailed = 1;  // as main has it

void LogWarnings(const std::filesystem::path& folder, const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) {
    Log(LogLevel::kWarning, "model loaded with a warning",
        {{"folder", folder.string()}, {"warning", warning}});
  }
}

// The loader for real checkpoints, each load counted.
Registry::Loader CountingLoader(Metrics& metrics) {
  return [&metrics](const std::filesystem::path& folder, const LoadOptions& options,
                    const Registry::Progress& progress, const std::stop_token& stop) {
    const auto begin = std::chrono::steady_clock::now();
    absl::StatusOr<LoadedModel> model =
        OnOwnThread([&] { return LoadCheckpoint(folder, options, progress, stop); });
    const LoadOutcome outcome = model.ok()                          ? LoadOutcome::kOk
                                : absl::IsCancelled(model.status()) ? LoadOutcome::kCancelled
                                                                    : LoadOutcome::kFailed;
    metrics.LoadDone(outcome, std::chrono::steady_clock::now() - begin);
    if (model.ok()) {
      LogWarnings(folder, model->model->info().warnings);
      if (!model->model->info().attention_fault.empty()) metrics.AttentionFellBack();
    }
    return model;
  };
}

Registry::Observer CountingObserver(Metrics& metrics) {
  return [&metrics](std::string_view id, ModelState state, int64_t weight_bytes) {
    if (state == ModelState::kReady) metrics.ModelLoaded(id, weight_bytes);
    if (state == ModelState::kAvailable || state == ModelState::kFailed) metrics.ModelUnloaded(id);
  };
}

ConnectionLimits LimitsOf(const Config& config) {
  return {.in_all = config.max_connections, .by_address = config.max_connections_per_address};
}

Registry::SkipObserver LogSkipped(const std::filesystem::path& root) {
  return [root](std::string_view name) {
    const std::string id = ModelIdFor(name);
    Log(LogLevel::kWarning, "folder of the model root passed over",
        {{"folder", Shorten(name)},
         {"why", WhyNoModelId(name)},
         {"fix", id.empty() ? std::string("give it a model id for a name")
                            : StrCat("ln -s ", Shorten(name), " ", (root / id).string())}});
  };
}

Server::Options ServerOptions(const Config& config, const std::string& version) {
  return {.listen = config.listen,
          .connections = LimitsOf(config),
          .max_message_bytes = config.max_message_bytes,
          .max_queue = config.max_queue,
          .max_streams = config.max_streams,
          .max_caller_percent = config.max_caller_percent,
          .times = {.first_message = config.first_message_timeout, .write = config.write_timeout},
          .cpu_threads = std::clamp(config.threads / 4, 1, 4),
          .stuck_after = config.stuck_after,
          .limits = {.max_sample_tokens = config.max_sample_tokens,
                     .read_ahead = config.read_ahead,
                     .template_date = config.template_date,
                     .version = version}};
}

HttpAccess AccessOf(const Config& config) {
  HttpAccess access{.any_host = !IsLoopback(config.http_listen) && config.http_allow_host.empty(),
                    .hosts = config.http_allow_host,
                    .origins = config.http_allow_origin};
  access.hosts.push_back(config.http_listen.substr(0, config.http_listen.rfind(':')));
  return access;
}

}  // namespace

Daemon::Daemon(Config config, std::string version)
    : config_(std::move(config)),
      version_(std::move(version)),
      metrics_(version_, Server::Methods()),
      registry_(config_.model_root,
                {.device = config_.device,
                 .compute_type = config_.compute_type,
                 .residency = config_.residency,
                 .activation_quantization = config_.activation_quantization},
                CountingLoader(metrics_), CountingObserver(metrics_),
                std::make_shared<MemoryBudget>(config_.memory_budget),
                LogSkipped(config_.model_root)) {
  metrics_.SetQueueCapacity(config_.max_queue);
}

absl::Status Daemon::Run() {
  SINKD_RETURN_IF_ERROR(OpenSecurity());
  SINKD_RETURN_IF_ERROR(OpenStore());
  SINKD_RETURN_IF_ERROR(OpenPorts());
  loader_ = std::jthread([this](const std::stop_token& stop) { LoadModels(stop); });
  {
    std::unique_lock lock(mutex_);
    stopping_.wait(lock, [this] { return why_stop_.has_value(); });
  }
  Drain();
  return failure_;
}

void Daemon::RequestStop(std::string why) {
  {
    const std::lock_guard lock(mutex_);
    if (!why_stop_) why_stop_ = std::move(why);
  }
  stopping_.notify_all();
}

void Daemon::Fail(absl::Status failure, std::string why) {
  {
    const std::lock_guard lock(mutex_);
    if (why_stop_) return;
    failure_ = std::move(failure);
    why_stop_ = std::move(why);
  }
  stopping_.notify_all();
}

void Daemon::ReloadSoon() {
  const std::lock_guard lock(mutex_);
  if (security_) security_->ReloadSoon();
}

absl::Status Daemon::OpenSecurity() {
  SINKD_ASSIGN_OR_RETURN(std::unique_ptr<Security> security, Security::Open(config_, metrics_));
  const std::lock_guard lock(mutex_);
  security_ = std::move(security);
  return absl::OkStatus();
}

absl::Status Daemon::OpenStore() {
  SINKD_ASSIGN_OR_RETURN(store_, OpenConfiguredStore(config_));
  if (!store_) return absl::OkStatus();
  PrunePolicy policy{.max_bytes = config_.retain_bytes};
  if (config_.retain_age) {
    policy.max_age = std::chrono::duration_cast<std::chrono::seconds>(*config_.retain_age);
  }
  retention_.emplace(*store_, policy);
  return absl::OkStatus();
}

absl::Status Daemon::OpenPorts() {
  if (!config_.http_listen.empty()) {
    api_.emplace(catalog_, store_.get(), config_.max_caller_percent);
    HttpApi api = api_->Bind();
    if (!config_.http_read_only) {
      api.analyze = [this](const HttpQuery& query, const std::stop_token& stop) {
        return analysis_.Answer(query, stop);
      };
    }
    SINKD_ASSIGN_OR_RETURN(
        http_, HttpServer::Start(
                   config_.http_listen,
                   {.metrics = [this] { return RenderMetrics(); },
                    .not_ready = [this] { return readiness_.WhyNot(); },
                    .api = std::move(api),
                    .page = BuiltPage(),
                    .access = AccessOf(config_),
                    .admit = [this](const Credentials& shown,
                                    Role least) { return security_->AdmitHttp(shown, least); },
                    .metrics_open = config_.metrics_open,
                    .tls = security_->tls()},
                   CountedPort("http", LimitsOf(config_), metrics_)));
  }
  Server::Options options = ServerOptions(config_, version_);
  options.access = &security_->access();
  options.tls = security_->tls();
  options.on_stuck = [this](bool stuck) { NoteStuck(stuck); };
  SINKD_ASSIGN_OR_RETURN(server_, Server::Start(options, catalog_, metrics_, store_.get()));
  analysis_.Open(server_->LocalChannel(), server_->local_callers());
  Log(LogLevel::kInfo, "listening",
      {{"version", version_}, {"grpc", server_->address()}, {"http", HttpAddress()}});
  return absl::OkStatus();
}

std::string Daemon::RenderMetrics() {
  for (const MemorySnapshot& device : registry_.budget()->Snapshot()) {
    metrics_.SetMemory(device.device, device.budget_bytes, device.weight_bytes,
                       device.loading_bytes + device.running_bytes);
  }
  metrics_.SetEvictions(registry_.evictions());
  return metrics_.Render();
}

void Daemon::LoadModels(const std::stop_token& stop) {
  for (const std::string& id : config_.load) {
    const absl::StatusOr<ModelEntry> entry =
        catalog_.Load(id, registry_.defaults(), {}, stop, /*pinned=*/true, "--load");
    if (stop.stop_requested()) return;
    if (!entry.ok()) {
      return Fail(entry.status(), "a model of --load could not be loaded");
    }
  }
  BecomeReady();
}

void Daemon::BecomeReady() {
  readiness_.SetReady();
  if (readiness_.WhyNot()) return;  // a signal came first
  metrics_.SetReady(true);
  server_->SetServing(true);
  Log(LogLevel::kInfo, "ready");
  if (config_.port_file.empty()) return;
  const absl::Status written = WritePortFile(config_.port_file, server_->address(), HttpAddress());
  if (!written.ok()) {
    Fail(written, "the port file could not be written");
  }
}

void Daemon::Drain() {
  Log(LogLevel::kInfo, "stopping", {{"why", *why_stop_}});
  readiness_.SetDraining("the server is stopping: " + *why_stop_);
  loader_.request_stop();
  loader_.join();
  metrics_.SetReady(false);
  server_->SetServing(false);
  if (failure_.ok()) {
    std::this_thread::sleep_for(config_.drain_delay);
    server_->Close();
    if (!server_->WaitUntilIdle(config_.drain_timeout)) {
      Log(LogLevel::kWarning, "drain timeout, ending what still runs");
    }
  }
  server_->EndCalls();
  std::error_code ignored;
  if (!config_.port_file.empty()) std::filesystem::remove(config_.port_file, ignored);
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    ExitIfHeldUp();
  }
  server_->Stop();
  if (http_) http_->Stop();
  Log(LogLevel::kInfo, "stopped");
}

void Daemon::NoteStuck(bool stuck) {
  readiness_.SetStuck(stuck ? "the work of a device makes no progress" : "");
  metrics_.SetReady(!readiness_.WhyNot());
  const std::lock_guard lock(mutex_);
  stuck_ = stuck;
  ExitIfHeldUp();
}

void Daemon::ExitIfHeldUp() {
  if (!stuck_ || !ended_) return;
  // Its thread cannot be joined, and nobody waits for what it does.
  Log(LogLevel::kError, "a device is stuck and does not stop, exiting at once");
  _exit(kExitFailed);
}

std::string Daemon::HttpAddress() const {
  if (!http_) return {};
  return config_.http_listen.substr(0, config_.http_listen.rfind(':') + 1) +
         std::to_string(http_->port());
}

}  // namespace sinkd
