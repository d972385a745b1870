// AnalysisSession: one analysis of sinkctl, between its inputs, the stream and the output.
//
// It counts what was sent, answered and failed, ties answers to the lines they came from, and shows
// progress. What lies between is the samples under way, a few numbers each.
//
// With a run, samples without a name get one from what they hold, those that the run holds already
// are left out, and those under way are kept until they are answered: when the stream breaks,
// another one, which may be another server's, takes up what this one left. Without a run it has to
// take all samples again, since the summary is that of a stream, and what was written before is not
// written twice; that needs an input that can be read twice. Thread-safety: Next runs on the
// sending thread, the observer's methods on the calling one; a mutex guards what both use.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "client/analysis_client.h"
#include "client/cli/commands/shard.h"
#include "client/cli/input/background_reader.h"
#include "client/cli/input/sample_reader.h"
#include "client/cli/input/seen_samples.h"
#include "client/cli/output/result_writer.h"
#include "client/cli/terminal/progress_bar.h"

namespace sinkd::cli {

class AnalysisSession : public client::SampleSource, public client::AnalysisObserver {
 public:
  // All borrowed, to outlive the session.
  AnalysisSession(SampleReader& reader, ResultWriter& writer, Output& output, ProgressBar& progress,
                  const GlobalOptions& global, const AnalyzeOptions& options);

  // Only samples of this shard are sent. Before Prepare.
  void UseShard(const Shard& shard) { shard_ = shard; }

  // The samples belong to run `id`, which holds those of `held` already: their ids, and the first
  // bytes of their inputs' digests where they are known. With `replace`, others of these ids take
  // their place. Before Prepare.
  void UseRun(std::string id, std::map<std::string, std::string> held, bool replace);

  // Reads up to the first sample. False when there is nothing to ask a server for.
  bool Prepare();

  // Whether another stream may take up what the one that ended with `status` left: the connection
  // broke, or the server has no room or no time for now, and --retry-for is not over. `broken_off`
  // says how many streams in a row did before without an answer that was new.
  bool MayTakeUp(const absl::Status& status) const;
  int broken_off() const { return broken_off_; }
  // Makes the session ready for that stream.
  void TakeUp();
  bool has_run() const { return !run_.empty(); }

  // SampleSource.
  absl::StatusOr<std::optional<sinks::v1::Sample>> Next() override;
  void Stop() override;

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
  std::optional<InputItem> ReadItem();
  // Names the sample and says whether the run lacks it, or holds another under its id: what becomes
  // of that one is the server's to say.
  bool IsWanted(InputSample& item);

  // With mutex_ held.
  void TakeBadInput(const InputError& error);
  void OpenedRun(const sinks::v1::AnalyzeStarted& started);
  // FAILED_PRECONDITION when this server does not hold what another one did.
  absl::Status CheckTakenUp(const sinks::v1::AnalyzeStarted& started) const;
  // Whether the answer to this sample was written before.
  bool IsWritten(int64_t sample_index) const { return sample_index < written_before_; }
  void Answered(int64_t sample_index, int64_t tokens);
  void ShowProgress();
  std::string OriginOf(int64_t sample_index) const;
  ExitCode Code(const absl::Status& status, bool interrupted) const;
  void Report(const absl::Status& status, ExitCode code) const;
  // Says what command goes on with the run, where one does.
  void SayHowToResume(const absl::Status& status, ExitCode code) const;
  absl::Status FlushLocked();

  SampleReader& reader_;
  ResultWriter& writer_;
  Output& output_;
  ProgressBar& progress_;
  const GlobalOptions& global_;
  const AnalyzeOptions& options_;
  const bool fail_fast_;

  std::mutex mutex_;
  std::optional<InputItem> first_;     // read by Prepare, not yet sent
  bool stopped_by_bad_input_ = false;  // with fail_fast
  Outcome outcome_;
  std::deque<Origin> under_way_;  // of the samples sent and not yet answered
  int64_t first_under_way_ = 0;   // the sample index of under_way_.front()

  Shard shard_;
  int64_t elsewhere_ = 0;                       // items of other shards
  std::string run_;                             // empty: none
  std::optional<BackgroundReader> background_;  // with a run
  std::map<std::string, std::string> held_;     // of samples that need not be sent
  bool replace_ = false;
  SeenSamples seen_;
  int64_t repeated_ = 0;                      // samples that came before in the input
  int64_t renamed_ = 0;                       // whose id came before with another text
  std::optional<Origin> renamed_at_;          // the first of them
  int64_t left_out_ = 0;                      // samples that the run held
  std::deque<sinks::v1::Sample> unanswered_;  // with a run: the samples of under_way_
  size_t sent_again_ = 0;                     // of unanswered_, by the stream at hand
  int64_t stream_begin_ = 0;                  // the sample index at which that stream began
  bool started_ = false;
  bool run_is_kept_ = false;
  int64_t held_at_start_ = 0;  // samples that the run held
  bool record_told_ = false;
  int broken_off_ = 0;
  std::chrono::steady_clock::time_point last_answer_ = std::chrono::steady_clock::now();

  // Without a run, of the streams that broke off:
  int64_t written_before_ = 0;  // samples
  int64_t errors_to_skip_ = 0;  // of the input, told before
  // Pieces of the alpha of a sample come before its record, so a stream can break off among them.
  int64_t alpha_sample_ = -1;
  int64_t alpha_seen_ = 0;     // of that sample, by the stream at hand
  int64_t alpha_written_ = 0;  // of that sample

  std::optional<int64_t> total_pieces_;  // of the input, where they were counted for progress
  int64_t done_pieces_ = 0;
  int64_t done_bytes_ = 0;
  int64_t skipped_bytes_ = 0;  // before the first sample that was sent
  int64_t done_tokens_ = 0;
  int64_t done_samples_ = 0;
  bool without_summary_ = false;
};

}  // namespace sinkd::cli
