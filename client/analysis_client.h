// AnalysisClient: one Analyze stream that sends and receives concurrently in constant memory.
//
//   class Prompts : public SampleSource { ... };        // returns one sample at a time
//   class Printer : public AnalysisObserver { ... };    // receives every response as it arrives
//   absl::Status status = AnalysisClient(channel).Analyze(spec, prompts, printer, options);
//
// The library holds one sample and one record at a time. Everything else in flight is in the
// windows of gRPC and the server, so a slow server slows the source down.
#pragma once

#include <memory>
#include <optional>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <grpcpp/channel.h>

#include "client/call.h"
#include "sinks/v1/analysis.grpc.pb.h"

namespace sinkd::client {

// A source of samples.
// Thread-safety: Next is called from one thread of the library, Stop from another.
class SampleSource {
 public:
  virtual ~SampleSource() = default;

  // Returns the next sample, or nullopt at the end. An error cancels the stream, and Analyze
  // returns it.
  virtual absl::StatusOr<std::optional<sinks::v1::Sample>> Next() = 0;

  // No more samples are needed. A waiting Next (for a terminal, a pipe) must return soon.
  virtual void Stop() {}
};

// Receives the responses in the order in which they arrive. An error that it returns cancels the
// stream, and Analyze returns that error.
// Thread-safety: called only from the thread that called Analyze.
class AnalysisObserver {
 public:
  virtual ~AnalysisObserver() = default;
  virtual absl::Status OnStarted(const sinks::v1::AnalyzeStarted&) { return absl::OkStatus(); }
  // Receives whole records; their parts are already joined.
  virtual absl::Status OnRecord(sinks::v1::SampleRecord) { return absl::OkStatus(); }
  virtual absl::Status OnAlpha(const sinks::v1::AlphaChunk&) { return absl::OkStatus(); }
  virtual absl::Status OnSampleError(const sinks::v1::SampleError&) { return absl::OkStatus(); }
  virtual absl::Status OnProgress(const sinks::v1::Progress&) { return absl::OkStatus(); }
  virtual absl::Status OnSummary(const sinks::v1::Summary&) { return absl::OkStatus(); }
};

// Thread-safety: const methods may be called from any thread.
class AnalysisClient {
 public:
  explicit AnalysisClient(std::shared_ptr<grpc::Channel> channel);

  // Runs one stream to its end; `source` and `observer` are borrowed for the call. OK: the server
  // answered every sample and sent the summary, if one was requested; the observer received the
  // errors of samples that failed. Errors, the first that applies: the observer's, the source's,
  // the server's (with details, client/error_report.h), INTERNAL if the server violated the
  // protocol of the stream. Streams are not retried.
  absl::Status Analyze(const sinks::v1::AnalysisSpec& spec, SampleSource& source,
                       AnalysisObserver& observer, const CallOptions& options) const;

 private:
  std::unique_ptr<sinks::v1::AnalysisService::StubInterface> stub_;
};

}  // namespace sinkd::client
