#include "server/telemetry/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <map>
#include <mutex>

#include "server/telemetry/connection_metrics.h"
#include "server/telemetry/latest_runs.h"
#include "server/telemetry/memory_gauges.h"

namespace sinkd {
namespace {

using prometheus::Counter;
using prometheus::Gauge;
using prometheus::Histogram;
using Labels = std::map<std::string, std::string>;
using Buckets = Histogram::BucketBoundaries;

constexpr char kOtherMethod[] = "other";
constexpr int kStatusCodes = 17;  // OK to UNAUTHENTICATED
constexpr std::array kOutcomes = {"ok", "failed", "cancelled"};
constexpr std::array<const char*, kSamplePhases> kPhases = {"queue",   "encode", "forward",
                                                            "analyse", "keep",   "write"};

// Seconds. A call may be a look-up or an Analyze stream of hours.
const Buckets kRpcBuckets = {0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 1800, 7200};
const Buckets kPhaseBuckets = {0.0005, 0.002, 0.01, 0.05, 0.1, 0.25, 0.5, 1,
                               2.5,    5,     10,   30,   60,  180,  600};
const Buckets kLoadBuckets = {0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900};

std::string CodeName(int code) {
  return absl::StatusCodeToString(static_cast<absl::StatusCode>(code));
}

// 0 where the system does not say.
double ResidentBytes() {
  int64_t size_pages = 0;
  int64_t resident_pages = 0;
  std::ifstream file("/proc/self/statm");
  file >> size_pages >> resident_pages;
  return static_cast<double>(resident_pages) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

struct RpcMetrics {
  Counter* started = nullptr;
  std::array<Counter*, kStatusCodes> handled{};
  Histogram* duration = nullptr;
};

}  // namespace

struct Metrics::Families {
  prometheus::Registry registry;
  std::map<std::string, RpcMetrics, std::less<>> rpcs;
  std::array<Counter*, kOutcomes.size()> samples{};
  std::array<Histogram*, kPhases.size()> phases{};
  std::array<Counter*, kOutcomes.size()> loads{};
  Counter* tokens = nullptr;
  Counter* records = nullptr;
  Gauge* queue_depth = nullptr;
  Gauge* queue_capacity = nullptr;
  Gauge* streams = nullptr;
  Gauge* models = nullptr;
  Gauge* ready = nullptr;
  Gauge* resident = nullptr;
  Histogram* load_duration = nullptr;
  Counter* attention_faults = nullptr;
  prometheus::Family<Gauge>* weight_family = nullptr;
  Gauge* stuck_devices = nullptr;
  LatestRuns latest_runs{registry};
  AccessMetrics access{registry};
  MemoryGauges memory{registry};
  ConnectionMetrics connections{registry};
  LaneMetrics lanes{registry};

  std::mutex models_mutex;
  std::map<std::string, Gauge*, std::less<>> weights;  // by model id

  Counter* AddCounter(const std::string& name, const std::string& help) {
    return &prometheus::BuildCounter().Name(name).Help(help).Register(registry).Add({});
  }
  Gauge* AddGauge(const std::string& name, const std::string& help, const Labels& labels = {}) {
    return &prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add(labels);
  }
  template <size_t N>
  std::array<Counter*, N> AddOutcomes(const std::string& name, const std::string& help,
                                      const std::array<const char*, N>& outcomes) {
    auto& family = prometheus::BuildCounter().Name(name).Help(help).Register(registry);
    std::array<Counter*, N> counters{};
    for (size_t i = 0; i < N; ++i) counters[i] = &family.Add({{"outcome", outcomes[i]}});
    return counters;
  }

  void AddRpcs(std::span<const std::string> methods);
  void AddSamples();
  void AddModels();
  void AddProcess(std::string_view version);

  RpcMetrics& Rpc(std::string_view method) {
    const auto found = rpcs.find(method);
    return found != rpcs.end() ? found->second : rpcs.find(kOtherMethod)->second;
  }
};

void Metrics::Families::AddRpcs(std::span<const std::string> methods) {
  auto& started = prometheus::BuildCounter()
                      .Name("sinkd_rpc_started_total")
                      .Help("Started RPCs, by method.")
                      .Register(registry);
  auto& handled = prometheus::BuildCounter()
                      .Name("sinkd_rpc_handled_total")
                      .Help("Finished RPCs, by method and gRPC status code.")
                      .Register(registry);
  auto& duration = prometheus::BuildHistogram()
                       .Name("sinkd_rpc_duration_seconds")
                       .Help("Duration of RPCs, by method.")
                       .Register(registry);
  std::vector<std::string> all(methods.begin(), methods.end());
  all.emplace_back(kOtherMethod);
  for (const std::string& method : all) {
    RpcMetrics& rpc = rpcs[method];
    rpc.started = &started.Add({{"method", method}});
    rpc.duration = &duration.Add({{"method", method}}, kRpcBuckets);
    for (int code = 0; code < kStatusCodes; ++code) {
      rpc.handled[static_cast<size_t>(code)] =
          &handled.Add({{"method", method}, {"code", CodeName(code)}});
    }
  }
}

void Metrics::Families::AddSamples() {
  samples = AddOutcomes("sinkd_samples_total", "Finished samples, by outcome.", kOutcomes);
  tokens = AddCounter("sinkd_tokens_total", "Tokens that ran through a model.");
  records = AddCounter("sinkd_records_sent_total", "Records sent to clients.");
  auto& family = prometheus::BuildHistogram()
                     .Name("sinkd_sample_phase_duration_seconds")
                     .Help("Time a sample spends in each phase.")
                     .Register(registry);
  for (size_t i = 0; i < kPhases.size(); ++i) {
    phases[i] = &family.Add({{"phase", kPhases[i]}}, kPhaseBuckets);
  }
  queue_depth = AddGauge("sinkd_queue_depth", "Waiting samples.");
  queue_capacity = AddGauge("sinkd_queue_capacity", "Limit on waiting samples, per device.");
  streams = AddGauge("sinkd_streams_in_flight", "Open Analyze and RunStudy streams.");
}

void Metrics::Families::AddModels() {
  models = AddGauge("sinkd_models_loaded", "Models in memory.");
  weight_family = &prometheus::BuildGauge()
                       .Name("sinkd_model_weight_bytes")
                       .Help("Device memory of a model's weights.")
                       .Register(registry);
  loads = AddOutcomes("sinkd_model_loads_total", "Finished model loads, by outcome.", kOutcomes);
  load_duration = &prometheus::BuildHistogram()
                       .Name("sinkd_model_load_duration_seconds")
                       .Help("Duration of model loads.")
                       .Register(registry)
                       .Add({}, kLoadBuckets);
  attention_faults = AddCounter("sinkd_attention_check_failures_total",
                                "Model loads whose fused attention calls differed from strips; "
                                "these models use strips.");
}

void Metrics::Families::AddProcess(std::string_view version) {
  AddGauge("sinkd_build_info", "Always 1; the labels identify the build.",
           {{"version", std::string(version)}})
      ->Set(1);
  AddGauge("sinkd_process_start_time_seconds", "Unix time at which the server started.")
      ->SetToCurrentTime();
  stuck_devices = AddGauge("sinkd_stuck_devices", "Devices without progress for --stuck-after.");
  ready = AddGauge("sinkd_ready", "1 when the server accepts work, 0 while it loads or drains.");
  resident = AddGauge("sinkd_process_resident_memory_bytes", "Resident memory of the server.");
}

Metrics::Metrics(std::string_view version, std::span<const std::string> methods)
    : families_(std::make_unique<Families>()) {
  families_->AddRpcs(methods);
  families_->AddSamples();
  families_->AddModels();
  families_->AddProcess(version);
}

Metrics::~Metrics() = default;

void Metrics::RpcStarted(std::string_view method) {
  families_->Rpc(method).started->Increment();
}

void Metrics::RpcHandled(std::string_view method, absl::StatusCode code, Seconds duration) {
  RpcMetrics& rpc = families_->Rpc(method);
  const int number = static_cast<int>(code);
  const bool known = number >= 0 && number < kStatusCodes;
  rpc.handled[static_cast<size_t>(known ? code : absl::StatusCode::kUnknown)]->Increment();
  rpc.duration->Observe(duration.count());
}

void Metrics::StreamOpened() {
  families_->streams->Increment();
}

void Metrics::StreamClosed() {
  families_->streams->Decrement();
}

void Metrics::SampleDone(SampleOutcome outcome, int64_t tokens) {
  families_->samples[static_cast<size_t>(outcome)]->Increment();
  families_->tokens->Increment(static_cast<double>(tokens));
}

void Metrics::PhaseDone(SamplePhase phase, Seconds duration) {
  families_->phases[static_cast<size_t>(phase)]->Observe(duration.count());
}

void Metrics::RecordsSent(int64_t count) {
  families_->records->Increment(static_cast<double>(count));
}

void Metrics::QueueDepthChanged(int64_t samples) {
  families_->queue_depth->Increment(static_cast<double>(samples));
}

void Metrics::SetQueueCapacity(int64_t samples) {
  families_->queue_capacity->Set(static_cast<double>(samples));
}

void Metrics::SetConnections(std::string_view port, int64_t open) {
  families_->connections.SetOpen(port, open);
}

void Metrics::ConnectionRefused(std::string_view port, std::string_view reason) {
  families_->connections.Refused(port, reason);
}

void Metrics::SetStuckDevices(int64_t count) {
  families_->stuck_devices->Set(static_cast<double>(count));
}

void Metrics::SetReady(bool ready) {
  families_->ready->Set(ready ? 1 : 0);
}

void Metrics::LoadDone(LoadOutcome outcome, Seconds duration) {
  families_->loads[static_cast<size_t>(outcome)]->Increment();
  families_->load_duration->Observe(duration.count());
}

void Metrics::AttentionFellBack() {
  families_->attention_faults->Increment();
}

void Metrics::ModelLoaded(std::string_view model, int64_t weight_bytes) {
  const std::lock_guard lock(families_->models_mutex);
  Gauge*& gauge = families_->weights[std::string(model)];
  if (gauge == nullptr) gauge = &families_->weight_family->Add({{"model", std::string(model)}});
  gauge->Set(static_cast<double>(weight_bytes));
  families_->models->Set(static_cast<double>(families_->weights.size()));
}

void Metrics::ModelUnloaded(std::string_view model) {
  const std::lock_guard lock(families_->models_mutex);
  const auto found = families_->weights.find(model);
  if (found == families_->weights.end()) return;
  families_->weight_family->Remove(found->second);
  families_->weights.erase(found);
  families_->models->Set(static_cast<double>(families_->weights.size()));
}

void Metrics::SetMemory(const std::string& device, int64_t budget, int64_t weights,
                        int64_t reserved) {
  families_->memory.Set(device, budget, weights, reserved);
}

void Metrics::SetEvictions(int64_t total) {
  families_->memory.SetEvictions(total);
}

void Metrics::RunSummarized(std::string_view model, const RunGauges& run) {
  families_->latest_runs.Set(model, run);
}

AccessMetrics& Metrics::access() {
  return families_->access;
}

LaneMetrics& Metrics::lanes() {
  return families_->lanes;
}

WorkTotals Metrics::Totals() const {
  const auto count = [](const auto* metric) { return static_cast<int64_t>(metric->Value()); };
  const auto samples = [&](SampleOutcome outcome) {
    return count(families_->samples[static_cast<size_t>(outcome)]);
  };
  return {.samples_ok = samples(SampleOutcome::kOk),
          .samples_failed = samples(SampleOutcome::kFailed),
          .samples_cancelled = samples(SampleOutcome::kCancelled),
          .tokens = count(families_->tokens),
          .records_sent = count(families_->records),
          .waiting_samples = count(families_->queue_depth),
          .resident_bytes = static_cast<int64_t>(ResidentBytes())};
}

std::string Metrics::Render() const {
  families_->resident->Set(ResidentBytes());
  return prometheus::TextSerializer().Serialize(families_->registry.Collect());
}

}  // namespace sinkd
