// AnalysisClient: one Analyze stream, sending and receiving at once in flat memory.
//
//   class Prompts : public SampleSource { ... };        // pulled from, one sample at a time
//   class Printer : public AnalysisObserver { ... };    // told of every answer as it comes
//   absl::Status status = AnalysisClient(channel).Analyze(spec, prompts, printer, options);
//
// The library holds one sample and one record at a time; what is under way lies in gRPC's and the
// server's windows, so a slow server slows the source down.
#pragma once

#include <memory>
#include <optional>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <grpcpp/channel.h>

#include "client/call.h"
#include "sinks/v1/analysis.grpc.pb.h"

namespace sinkd::client {

// Where samples come from.
// Thread-safety: Next is called from one thread of the library, Stop from another.
class SampleSource {
 public:
  virtual ~SampleSource() = default;

  // The next sample; nullopt: there are no more. An error cancels the stream and is what Analyze
  // returns.
  virtual absl::StatusOr<std::optional<sinks::v1::Sample>> Next() = 0;

  // No more samples are wanted: a Next that waits (for a terminal, a pipe) must return soon.
  virtual void Stop() {}
};

// Who is told of the answers, in the order they come. A non-OK return cancels the stream and is
// what Analyze returns.
// Thread-safety: called from the thread that called Analyze only.
class AnalysisObserver {
 public:
  virtual ~AnalysisObserver() = default;
  virtual absl::Status OnStarted(const sinks::v1::AnalyzeStarted&) { return absl::OkStatus(); }
  // Whole records: parts are joined before.
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

  // Runs one stream to its end; `source` and `observer` are borrowed for the call. OK: every sample
  // was answered and the summary, where one was wanted, came; samples that failed were told to the
  // observer. Errors, first that applies: the observer's, the source's, the server's (details kept,
  // client/error_report.h), INTERNAL when the server broke the contract of the stream. Streams are
  // not retried.
  absl::Status Analyze(const sinks::v1::AnalysisSpec& spec, SampleSource& source,
                       AnalysisObserver& observer, const CallOptions& options) const;

 private:
  std::unique_ptr<sinks::v1::AnalysisService::StubInterface> stub_;
};

}  // namespace sinkd::client
