#include "client/cli/commands/analysis_session.h"

#include <algorithm>

#include <absl/strings/str_replace.h>
#include <fmt/format.h>

#include "client/cli/commands/call_setup.h"
#include "client/cli/input/content_id.h"
#include "client/cli/output/number_format.h"
#include "client/error_report.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

// The word as a shell reads it.
std::string ShellWord(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+.,:/@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  return "'" + absl::StrReplaceAll(word, {{"'", R"('\'')"}}) + "'";
}

}  // namespace

AnalysisSession::AnalysisSession(SampleReader& reader, ResultWriter& writer, Output& output,
                                 ProgressBar& progress, const GlobalOptions& global,
                                 const AnalyzeOptions& options)
    : reader_(reader),
      writer_(writer),
      output_(output),
      progress_(progress),
      global_(global),
      options_(options),
      fail_fast_(options.spec.fail_fast()) {
  if (progress_.enabled()) total_pieces_ = reader_.CountPieces();
}

void AnalysisSession::UseRun(std::string id, std::map<std::string, std::string> held,
                             bool replace) {
  run_ = std::move(id);
  held_ = std::move(held);
  replace_ = replace;
  background_.emplace(reader_);
}

bool AnalysisSession::MayTakeUp(const absl::Status& status) const {
  constexpr int kMostBrokenOff = 6;
  const bool over = options_.retry_for
                        ? std::chrono::steady_clock::now() - last_answer_ >= *options_.retry_for
                        : broken_off_ >= kMostBrokenOff;
  if (over) return false;
  const bool asks_to_wait = client::ReadErrorReport(status).retry_after.has_value();
  const bool refused = absl::IsResourceExhausted(status) && asks_to_wait && !started_;
  const bool broke =
      absl::IsUnavailable(status) && (started_ || asks_to_wait || options_.retry_for);
  if (!refused && !broke) return false;
  return has_run() ? run_is_kept_ || !started_ : reader_.total_bytes().has_value();
}

void AnalysisSession::TakeUp() {
  const std::lock_guard lock(mutex_);
  ++broken_off_;
  alpha_seen_ = 0;
  if (has_run()) {
    sent_again_ = 0;
    stream_begin_ = first_under_way_;
    background_->Rearm();
    return;
  }
  written_before_ = std::max(written_before_, first_under_way_);
  errors_to_skip_ = outcome_.bad_inputs;
  under_way_.clear();
  first_under_way_ = 0;
  outcome_.samples_sent = 0;
  elsewhere_ = 0;
  first_.reset();
  reader_.Restart();
}

void AnalysisSession::Stop() {
  if (background_) {
    background_->Release();
  } else if (!reader_.total_bytes()) {  // what can be read again never waits
    reader_.Stop();
  }
}

std::optional<InputItem> AnalysisSession::ReadItem() {
  if (first_) return *std::exchange(first_, std::nullopt);
  while (true) {
    std::optional<InputItem> item = background_ ? background_->Next() : reader_.Next();
    if (!item || shard_.Takes(*item)) return item;
    ++elsewhere_;
  }
}

bool AnalysisSession::IsWanted(InputSample& item) {
  if (run_.empty()) return true;
  v1::Sample& sample = item.sample;
  if (sample.sample_id().empty()) sample.set_sample_id(ContentId(sample));
  const std::string digest = InputDigest(sample);
  const Seen seen = seen_.Note(sample.sample_id(), digest);
  repeated_ += seen == Seen::kSame ? 1 : 0;
  renamed_ += seen == Seen::kOther ? 1 : 0;
  if (seen == Seen::kOther && !renamed_at_) renamed_at_ = item.origin;
  const auto held = held_.find(sample.sample_id());
  if (held == held_.end()) return true;
  const bool same = held->second.empty() ? !replace_ : digest.starts_with(held->second);
  left_out_ += same ? 1 : 0;
  return !same;
}

bool AnalysisSession::Prepare() {
  while (auto item = ReadItem()) {
    if (auto* sample = std::get_if<InputSample>(&*item)) {
      if (!IsWanted(*sample)) {
        skipped_bytes_ = sample->origin.end_bytes;
        continue;
      }
      first_ = std::move(*sample);
      return true;
    }
    const std::lock_guard lock(mutex_);
    TakeBadInput(std::get<InputError>(*item));
    if (fail_fast_) {
      stopped_by_bad_input_ = true;
      return false;
    }
  }
  return left_out_ > 0 || elsewhere_ > 0;  // the run is still to be opened, or summed up
}

absl::StatusOr<std::optional<v1::Sample>> AnalysisSession::Next() {
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (sent_again_ < unanswered_.size()) return unanswered_[sent_again_++];
    }
    std::optional<InputItem> item = ReadItem();
    if (!item) return std::nullopt;
    if (auto* sample = std::get_if<InputSample>(&*item)) {
      // The first one has been looked at by Prepare.
      const bool wanted = outcome_.samples_sent == 0 || IsWanted(*sample);
      if (!wanted) continue;
      const std::lock_guard lock(mutex_);
      under_way_.push_back(sample->origin);
      ++outcome_.samples_sent;
      if (run_.empty()) return std::move(sample->sample);
      unanswered_.push_back(std::move(sample->sample));
      return unanswered_[sent_again_++];
    }
    const std::lock_guard lock(mutex_);
    const InputError& error = std::get<InputError>(*item);
    TakeBadInput(error);
    if (fail_fast_) {
      stopped_by_bad_input_ = true;
      return absl::InvalidArgumentError(error.Describe());
    }
  }
}

void AnalysisSession::TakeBadInput(const InputError& error) {
  if (errors_to_skip_ > 0) {
    --errors_to_skip_;
    return;
  }
  ++outcome_.bad_inputs;
  progress_.Clear();
  Say(error.Describe());
  writer_.BadInput(error);
}

absl::Status AnalysisSession::FlushLocked() {
  progress_.Clear();
  return output_.Flush();
}

absl::Status AnalysisSession::OnStarted(const v1::AnalyzeStarted& started) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(started_, true)) return CheckTakenUp(started);
  without_summary_ = started.spec().no_summary();
  writer_.Started(started);
  if (!run_.empty()) OpenedRun(started);
  const absl::Status status = FlushLocked();
  ShowProgress();
  return status;
}

absl::Status AnalysisSession::CheckTakenUp(const v1::AnalyzeStarted& started) const {
  if (!has_run()) return absl::OkStatus();
  const int64_t least = std::max(held_at_start_, int64_t{record_told_});
  if (started.stored_samples() >= least) return absl::OkStatus();
  return absl::FailedPreconditionError(fmt::format(
      "the server that took run {} up holds {} of its samples, where another one held {} or more; "
      "servers that share their work must share one store: start them with --store "
      "postgresql://...",
      run_, started.stored_samples(), least));
}

void AnalysisSession::OpenedRun(const v1::AnalyzeStarted& started) {
  run_is_kept_ = started.has_stored_samples();
  held_at_start_ = started.stored_samples();
  progress_.Clear();
  if (!run_is_kept_) {
    Say(fmt::format("the server keeps no runs: run {} is not kept", run_));
  } else if (started.stored_samples() > 0 && !global_.quiet) {
    Say(fmt::format("run {} holds {} sample{}", run_, Grouped(started.stored_samples()),
                    started.stored_samples() == 1 ? "" : "s"));
    const int64_t unknown = started.stored_without_digest();
    if (unknown > 0 && !replace_) {
      Say(
          fmt::format("of {} of them the run does not have the text, so samples with their ids are "
                      "taken to be the same; --replace analyses them again",
                      Grouped(unknown)));
    }
    for (const std::string& stored : started.stored_arithmetics()) {
      if (stored == started.arithmetic()) continue;
      Say(fmt::format(
          "some of them were computed in {}; the rest will be in {}, so last digits may "
          "differ",
          client::MakePrintable(stored), client::MakePrintable(started.arithmetic())));
    }
  }
}

absl::Status AnalysisSession::OnRecord(v1::SampleRecord record) {
  const std::lock_guard lock(mutex_);
  record.set_sample_index(stream_begin_ + record.sample_index());
  record_told_ = true;
  if (IsWritten(record.sample_index())) {
    Answered(record.sample_index(), 0);
    return absl::OkStatus();
  }
  writer_.Record(record);
  Answered(record.sample_index(), record.positions());
  const absl::Status status = FlushLocked();
  ShowProgress();
  return status;
}

absl::Status AnalysisSession::OnAlpha(const v1::AlphaChunk& alpha) {
  const std::lock_guard lock(mutex_);
  v1::AlphaChunk moved = alpha;
  moved.set_sample_index(stream_begin_ + alpha.sample_index());
  if (IsWritten(moved.sample_index())) return absl::OkStatus();
  if (std::exchange(alpha_sample_, moved.sample_index()) != moved.sample_index()) {
    alpha_seen_ = alpha_written_ = 0;
  }
  if (++alpha_seen_ <= alpha_written_) return absl::OkStatus();
  alpha_written_ = alpha_seen_;
  writer_.Alpha(moved);
  return FlushLocked();
}

absl::Status AnalysisSession::OnSampleError(const v1::SampleError& told) {
  const std::lock_guard lock(mutex_);
  v1::SampleError error = told;
  error.set_sample_index(stream_begin_ + told.sample_index());
  if (IsWritten(error.sample_index())) {
    Answered(error.sample_index(), 0);
    return absl::OkStatus();
  }
  const std::string origin = OriginOf(error.sample_index());
  ++outcome_.samples_failed;
  progress_.Clear();
  std::string text = origin;
  if (!error.sample_id().empty()) {
    text += fmt::format(" (\"{}\")", client::MakePrintable(error.sample_id()));
  }
  Say(text + ": " + client::Describe(client::FromRpcStatus(error.status())));
  writer_.SampleError(error, origin);
  Answered(error.sample_index(), 0);
  return FlushLocked();
}

absl::Status AnalysisSession::OnProgress(const v1::Progress& progress) {
  const std::lock_guard lock(mutex_);
  // Without records only progress tells which samples are done.
  const int64_t done = stream_begin_ + progress.samples_done();
  if (done > first_under_way_) Answered(done - 1, 0);
  done_samples_ = std::max(done_samples_, done);
  done_tokens_ = std::max(done_tokens_, progress.tokens_done());
  ShowProgress();
  return absl::OkStatus();
}

absl::Status AnalysisSession::OnSummary(const v1::Summary& summary) {
  const std::lock_guard lock(mutex_);
  // Without records the summary is what says how many were answered.
  done_samples_ = run_is_kept_
                      ? outcome_.samples_sent
                      : std::max(done_samples_, summary.samples() + outcome_.samples_failed);
  writer_.Summary(summary);
  return FlushLocked();
}

void AnalysisSession::Answered(int64_t sample_index, int64_t tokens) {
  done_tokens_ += tokens;
  done_samples_ = std::max(done_samples_, sample_index + 1);
  while (!under_way_.empty() && first_under_way_ <= sample_index) {
    done_bytes_ = std::max(done_bytes_, under_way_.front().end_bytes);
    done_pieces_ = std::max(done_pieces_, under_way_.front().number);
    under_way_.pop_front();
    ++first_under_way_;
    if (!IsWritten(sample_index)) {
      broken_off_ = 0;
      last_answer_ = std::chrono::steady_clock::now();
    }
    if (unanswered_.empty()) continue;
    unanswered_.pop_front();
    --sent_again_;
  }
}

std::string AnalysisSession::OriginOf(int64_t sample_index) const {
  const int64_t at = sample_index - first_under_way_;
  if (at < 0 || at >= static_cast<int64_t>(under_way_.size())) {
    return fmt::format("sample {}", sample_index);
  }
  return reader_.Describe(under_way_[static_cast<size_t>(at)]);
}

void AnalysisSession::ShowProgress() {
  if (!progress_.enabled()) return;
  ProgressState state;
  const auto total = reader_.total_bytes();
  if (total && *total > 0) {
    state.share = static_cast<double>(done_bytes_) / static_cast<double>(*total);
    state.skipped = static_cast<double>(skipped_bytes_) / static_cast<double>(*total);
  }
  const double rate = static_cast<double>(done_tokens_) / std::max(0.001, progress_.seconds());
  // The place in the input where its length is known.
  state.text = fmt::format(
      "{} samples  {} tokens/s",
      total_pieces_ ? fmt::format("{}/{}", Grouped(done_pieces_), Grouped(*total_pieces_))
                    : Grouped(done_samples_),
      Grouped(static_cast<int64_t>(rate)));
  progress_.Show(std::move(state));
}

ExitCode AnalysisSession::Code(const absl::Status& status, bool interrupted) const {
  if (interrupted) return kExitInterrupted;
  if (output_.reader_gone()) return kExitOk;
  if (stopped_by_bad_input_) return kExitUsage;
  if (!status.ok()) return ExitCodeFor(status);
  if (outcome_.samples_failed > 0) return kExitRpcError;
  const bool nothing = outcome_.samples_sent == 0 && left_out_ == 0 && elsewhere_ == 0;
  return outcome_.bad_inputs > 0 || nothing ? kExitUsage : kExitOk;
}

ExitCode AnalysisSession::Finish(const absl::Status& status, bool interrupted) {
  const std::lock_guard lock(mutex_);
  const ExitCode code = Code(status, interrupted);
  // A stream without records and summary that ends well has answered all.
  if (status.ok() && without_summary_) done_samples_ = outcome_.samples_sent;
  outcome_.exit_code = code;
  outcome_.status = status;
  outcome_.samples_answered = done_samples_;
  writer_.End(outcome_);
  const absl::Status flushed = FlushLocked();
  if (output_.reader_gone()) return code;
  if (!flushed.ok()) {
    Say(std::string(flushed.message()));
    return kExitUsage;
  }
  Report(status, code);
  SayHowToResume(status, code);
  return code;
}

void AnalysisSession::SayHowToResume(const absl::Status& status, ExitCode code) const {
  const bool may_go_on = code == kExitInterrupted || absl::IsUnavailable(status) ||
                         absl::IsDeadlineExceeded(status) || absl::IsResourceExhausted(status);
  if (!may_go_on || !has_run() || (started_ && !run_is_kept_)) return;
  std::string command;
  for (const std::string& word : global_.command) {
    command += (command.empty() ? "" : " ") + ShellWord(word);
  }
  if (!options_.resume) command += " --resume";
  Say(fmt::format("to resume run {}{}:\n  {}", run_,
                  reader_.total_bytes() ? "" : ", with the same input", command));
}

void AnalysisSession::Report(const absl::Status& status, ExitCode code) const {
  if (code == kExitInterrupted) {
    Say(
        fmt::format("interrupted: {} of {} samples answered; the output ends there, without a "
                    "summary",
                    done_samples_, outcome_.samples_sent));
    return;
  }
  if (!status.ok() && !stopped_by_bad_input_) {
    Say(DescribeFailure(status, global_));
    if (outcome_.samples_sent > 0) {
      Say(fmt::format("{} of {} samples were answered before", done_samples_,
                      outcome_.samples_sent));
    }
  } else if (code == kExitUsage && outcome_.samples_sent == 0 && outcome_.bad_inputs == 0) {
    Say("the input has no samples; give --input FILE, --text TEXT, or pipe samples in");
  }
  if (elsewhere_ > 0 && !global_.quiet) {
    Say(fmt::format("{} sample{} of the input {} of other shards than {}/{}", Grouped(elsewhere_),
                    elsewhere_ == 1 ? "" : "s", elsewhere_ == 1 ? "is" : "are", shard_.index,
                    shard_.count));
  }
  if (left_out_ > 0 && !global_.quiet) {
    Say(fmt::format("{} sample{} of the input {} in run {} before and {} not sent",
                    Grouped(left_out_), left_out_ == 1 ? "" : "s", left_out_ == 1 ? "was" : "were",
                    run_, left_out_ == 1 ? "was" : "were"));
  }
  if (repeated_ > 0 && !global_.quiet) {
    Say(fmt::format("{} sample{} of the input came before under the same id, and count{} once",
                    Grouped(repeated_), repeated_ == 1 ? "" : "s", repeated_ == 1 ? "s" : ""));
  }
  if (renamed_ > 0 && !global_.quiet) {
    Say(
        fmt::format("{} sample{} of the input {} the id of an earlier one and another text, the "
                    "first at {}",
                    Grouped(renamed_), renamed_ == 1 ? "" : "s", renamed_ == 1 ? "has" : "have",
                    reader_.Describe(*renamed_at_)));
  }
  if (status.ok() && without_summary_ && !global_.quiet) {
    Say(fmt::format("run {} has no summary yet: `sinkctl runs summarize {}` writes one", run_,
                    run_));
  }
  const int64_t failed = outcome_.samples_failed + outcome_.bad_inputs;
  if (failed > 0 && !global_.quiet) {
    Say(fmt::format("{} of {} samples failed ({} refused by the server, {} not readable)", failed,
                    outcome_.samples_sent + outcome_.bad_inputs, outcome_.samples_failed,
                    outcome_.bad_inputs));
  }
}

}  // namespace sinkd::cli
