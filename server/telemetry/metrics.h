// Metrics: the server's metrics for Prometheus. Names start with sinkd_; times are in seconds,
// sizes in bytes. Every label set is created at start-up with value 0, so that rates exist before
// the first event. Labels never contain values that callers choose, except model ids, which the
// model root bounds.
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

// The phases of a sample, in order.
enum class SamplePhase {
  kQueue,    // waiting for the executor
  kEncode,   // text to token ids
  kForward,  // the forward pass of its batch, or a step of its study
  kAnalyse,  // trace to record, or a study's report
  kKeep,     // writing to disk: its share of the batch
  kWrite,    // sending its response, including waiting for a client that reads slowly
};
inline constexpr size_t kSamplePhases = 6;

// Results of a run; statistics that were not requested are absent.
struct RunGauges {
  int64_t samples = 0;
  std::optional<double> secondary_sinks;
  std::optional<double> secondary_sinks_per_1000_tokens;
  std::optional<double> primary_score_mean;
  std::optional<double> dormant_heads;
  std::optional<double> collapsed_heads;
  std::optional<double> focused_heads;
};

// Work done since the start, and waiting work.
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

  // `methods` are the full names of all RPCs, "sinks.v1.ModelService/LoadModel". Calls of other
  // methods count as "other".
  Metrics(std::string_view version, std::span<const std::string> methods);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void RpcStarted(std::string_view method);
  void RpcHandled(std::string_view method, absl::StatusCode code, Seconds duration);

  // Number of open Analyze and RunStudy streams.
  void StreamOpened();
  void StreamClosed();

  // `tokens` is added to the tokens analysed; 0 for a sample that did not run.
  void SampleDone(SampleOutcome outcome, int64_t tokens);
  void PhaseDone(SamplePhase phase, Seconds duration);
  void RecordsSent(int64_t count);

  // Samples admitted and not yet running, over all models and lanes.
  void QueueDepthChanged(int64_t samples);  // by this number
  // Number of samples that a device admits.
  void SetQueueCapacity(int64_t samples);

  // `port` is "grpc" or "http"; `reason` "connections", "address" or "descriptors".
  void SetConnections(std::string_view port, int64_t open);
  void ConnectionRefused(std::string_view port, std::string_view reason);

  // Number of devices whose work makes no progress.
  void SetStuckDevices(int64_t count);

  // Whether the server accepts work; false until set.
  void SetReady(bool ready);

  void LoadDone(LoadOutcome outcome, Seconds duration);
  // A loaded model computes attention in strips, because fused calls failed their check.
  void AttentionFellBack();
  // A model was loaded or unloaded; repeated calls have no effect. Suitable as the observer of the
  // registry (models/registry.h).
  void ModelLoaded(std::string_view model, int64_t weight_bytes);
  void ModelUnloaded(std::string_view model);

  // The budget of a device and its use; `reserved` is for running loads and passes.
  void SetMemory(const std::string& device, int64_t budget, int64_t weights, int64_t reserved);
  void SetEvictions(int64_t total);  // models unloaded to make room, since the start

  // A summary of a run of the model exists; it is now the model's latest run. Kept for at most 100
  // models, those with the latest runs.
  void RunSummarized(std::string_view model, const RunGauges& run);

  AccessMetrics& access();
  LaneMetrics& lanes();

  WorkTotals Totals() const;

  // Returns all metrics in the Prometheus text format. Reads the process's resident memory.
  std::string Render() const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace sinkd
