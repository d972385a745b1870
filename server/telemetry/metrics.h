// Metrics: what the server counts, for Prometheus. Names start with sinkd_, times are in seconds,
// sizes in bytes. Every label set is made at start-up with value 0, so that a rate exists before
// the first event; labels never hold what a caller chose, model ids excepted, which the model root
// bounds.
//
// Thread-safety: all methods may be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/status.h>

#include "server/telemetry/access_metrics.h"
#include "server/telemetry/lane_metrics.h"

namespace sinkd {

enum class SampleOutcome { kOk, kFailed, kCancelled };
enum class LoadOutcome { kOk, kFailed, kCancelled };

// What a sample's time goes into, in order.
enum class SamplePhase {
  kQueue,    // waiting for the executor
  kEncode,   // text to token ids
  kForward,  // the forward pass of the batch it ran in, or a step of its study
  kAnalyse,  // trace to record, or a study's report
  kKeep,     // to disk: its part of the batch that was written
  kWrite,    // its answer to the transport, which waits for a client that reads slowly
};
inline constexpr size_t kSamplePhases = 6;

// What a run found; a statistic that was not asked for is absent.
struct RunGauges {
  int64_t samples = 0;
  std::optional<double> secondary_sinks;
  std::optional<double> secondary_sinks_per_1000_tokens;
  std::optional<double> primary_score_mean;
};

// What was done since the start, and what waits.
struct WorkTotals {
  int64_t samples_ok = 0;
  int64_t samples_failed = 0;
  int64_t samples_cancelled = 0;
  int64_t tokens = 0;
  int64_t records_sent = 0;
  int64_t waiting_samples = 0;
  int64_t resident_bytes = 0;  // of the process
};

class Metrics {
 public:
  using Seconds = std::chrono::duration<double>;

  // The content type of Render's text.
  static constexpr char kContentType[] = "text/plain; version=0.0.4; charset=utf-8";

  // `methods` are the full names of all RPCs, "sinks.v1.ModelService/LoadModel"; a call of any
  // other counts under "other".
  Metrics(std::string_view version, std::span<const std::string> methods);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void RpcStarted(std::string_view method);
  void RpcHandled(std::string_view method, absl::StatusCode code, Seconds duration);

  // Analyze and RunStudy streams that are open.
  void StreamOpened();
  void StreamClosed();

  // `tokens` adds to the tokens analysed; 0 for a sample that never ran.
  void SampleDone(SampleOutcome outcome, int64_t tokens);
  void PhaseDone(SamplePhase phase, Seconds duration);
  void RecordsSent(int64_t count);

  // Samples admitted and not yet running, over all models and lanes.
  void QueueDepthChanged(int64_t samples);  // by so many
  // How many of them a device admits.
  void SetQueueCapacity(int64_t samples);

  // `port` is "grpc" or "http"; `reason` "connections", "address" or "descriptors".
  void SetConnections(std::string_view port, int64_t open);
  void ConnectionRefused(std::string_view port, std::string_view reason);

  // Devices whose work makes no progress.
  void SetStuckDevices(int64_t count);

  // Whether the server takes work; it does not until told.
  void SetReady(bool ready);

  void LoadDone(LoadOutcome outcome, Seconds duration);
  // A model came into memory, or left it; what is known already changes nothing. Fits as the
  // registry's observer, models/registry.h.
  void ModelLoaded(std::string_view model, int64_t weight_bytes);
  void ModelUnloaded(std::string_view model);

  // What may be held on a device and what is, of loads and passes under way `reserved`.
  void SetMemory(const std::string& device, int64_t budget, int64_t weights, int64_t reserved);
  void SetEvictions(int64_t total);  // models unloaded to make room, since the start

  // A run of the model was summed up, and is its latest from now on. Of at most 100 models, those
  // with the latest runs.
  void RunSummarized(std::string_view model, const RunGauges& run);

  AccessMetrics& access();
  LaneMetrics& lanes();

  WorkTotals Totals() const;

  // All metrics in the Prometheus text format. Reads the process's resident memory.
  std::string Render() const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace sinkd
