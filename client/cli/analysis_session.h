// AnalysisSession: one analysis of sinkctl, between its inputs, the stream and the output.
//
// It counts what was sent, answered and failed, ties answers to the lines they came from, and shows
// progress. What lies between is the samples under way, a few numbers each.
// Thread-safety: Next runs on the sending thread, the observer's methods on the calling one; a
// mutex guards what both use.
#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "client/analysis_client.h"
#include "client/cli/progress_bar.h"
#include "client/cli/result_writer.h"
#include "client/cli/sample_reader.h"

namespace sinkd::cli {

class AnalysisSession : public client::SampleSource, public client::AnalysisObserver {
 public:
  // All borrowed, to outlive the session.
  AnalysisSession(SampleReader& reader, ResultWriter& writer, Output& output, ProgressBar& progress,
                  std::string server, bool fail_fast, bool quiet);

  // Reads up to the first sample. False when there is none: nothing to ask a server for.
  bool Prepare();

  // SampleSource.
  absl::StatusOr<std::optional<sinks::v1::Sample>> Next() override;
  void Stop() override { reader_.Stop(); }

  // AnalysisObserver.
  absl::Status OnStarted(const sinks::v1::AnalyzeStarted& started) override;
  absl::Status OnRecord(sinks::v1::SampleRecord record) override;
  absl::Status OnAlpha(const sinks::v1::AlphaChunk& alpha) override;
  absl::Status OnSampleError(const sinks::v1::SampleError& error) override;
  absl::Status OnProgress(const sinks::v1::Progress& progress) override;
  absl::Status OnSummary(const sinks::v1::Summary& summary) override;

  // Says on standard error what is left to say and ends the output. The exit code.
  ExitCode Finish(const absl::Status& status, bool interrupted);

 private:
  // Both with mutex_ held.
  void TakeBadInput(const InputError& error);
  void Answered(int64_t sample_index, int64_t tokens);
  void ShowProgress();
  std::string OriginOf(int64_t sample_index) const;
  ExitCode Code(const absl::Status& status, bool interrupted) const;
  void Report(const absl::Status& status, ExitCode code) const;
  absl::Status FlushLocked();

  SampleReader& reader_;
  ResultWriter& writer_;
  Output& output_;
  ProgressBar& progress_;
  const std::string server_;
  const bool fail_fast_;
  const bool quiet_;

  std::mutex mutex_;
  std::optional<InputSample> first_;   // read by Prepare, not yet sent
  bool stopped_by_bad_input_ = false;  // with fail_fast
  Outcome outcome_;
  std::deque<Origin> under_way_;  // of the samples sent and not yet answered
  int64_t first_under_way_ = 0;   // the sample index of under_way_.front()
  int64_t done_bytes_ = 0;
  int64_t done_tokens_ = 0;
  int64_t done_samples_ = 0;
  bool summary_seen_ = false;
};

}  // namespace sinkd::cli
