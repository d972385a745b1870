// StudySession: one study of sinkctl, between its inputs, the call and the output. It gathers the
// samples into one request, ties errors to the lines they came from, and shows progress.
//
// Thread-safety: none; Prepare, the observer's methods and Finish are called one after the other.
#pragma once

#include <string>
#include <vector>

#include "client/cli/input/sample_reader.h"
#include "client/cli/output/result_writer.h"
#include "client/cli/terminal/progress_bar.h"
#include "client/mechanism_client.h"

namespace sinkd::cli {

class StudySession : public client::StudyObserver {
 public:
  // All borrowed, to outlive the session.
  StudySession(SampleReader& reader, ResultWriter& writer, Output& output, ProgressBar& progress,
               const GlobalOptions& global, bool fail_fast);

  // Reads all samples into `request`. False when there is nothing to ask a server for.
  bool Prepare(sinks::v1::RunStudyRequest& request);

  absl::Status OnStarted(const sinks::v1::StudyStarted& started) override;
  absl::Status OnProgress(const sinks::v1::StudyProgress& progress) override;
  absl::Status OnSampleError(const sinks::v1::SampleError& error) override;
  absl::Status OnReport(const sinks::v1::StudyReport& report) override;

  // Says on standard error what is left to say and ends the output. The exit code: where time ran
  // out, kExitOk when something was measured and kExitDeadline when nothing was.
  ExitCode Finish(const absl::Status& status, bool interrupted);

 private:
  void TakeBadInput(const InputError& error);
  std::string OriginOf(int64_t sample_index) const;
  absl::Status Flush();
  ExitCode Code(const absl::Status& status, bool interrupted) const;
  void Remark(const absl::Status& status, ExitCode code) const;

  SampleReader& reader_;
  ResultWriter& writer_;
  Output& output_;
  ProgressBar& progress_;
  const GlobalOptions& global_;
  const bool fail_fast_;

  std::vector<Origin> origins_;  // by sample
  bool stopped_by_bad_input_ = false;
  bool reported_ = false;
  std::string partial_reason_;  // of a report that is partial
  Outcome outcome_;
};

}  // namespace sinkd::cli
