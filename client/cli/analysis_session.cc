#include "client/cli/analysis_session.h"

#include <algorithm>

#include <fmt/format.h>

#include "client/cli/call_setup.h"
#include "client/cli/number_format.h"
#include "client/error_report.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

}  // namespace

AnalysisSession::AnalysisSession(SampleReader& reader, ResultWriter& writer, Output& output,
                                 ProgressBar& progress, std::string server, bool fail_fast,
                                 bool quiet)
    : reader_(reader),
      writer_(writer),
      output_(output),
      progress_(progress),
      server_(std::move(server)),
      fail_fast_(fail_fast),
      quiet_(quiet) {}

bool AnalysisSession::Prepare() {
  while (auto item = reader_.Next()) {
    if (auto* sample = std::get_if<InputSample>(&*item)) {
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
  return false;
}

absl::StatusOr<std::optional<v1::Sample>> AnalysisSession::Next() {
  while (true) {
    std::optional<InputItem> item;
    if (first_) {
      item = *std::exchange(first_, std::nullopt);
    } else {
      item = reader_.Next();
    }
    if (!item) return std::nullopt;
    const std::lock_guard lock(mutex_);
    if (auto* sample = std::get_if<InputSample>(&*item)) {
      under_way_.push_back(sample->origin);
      ++outcome_.samples_sent;
      return std::move(sample->sample);
    }
    const InputError& error = std::get<InputError>(*item);
    TakeBadInput(error);
    if (fail_fast_) {
      stopped_by_bad_input_ = true;
      return absl::InvalidArgumentError(error.Describe());
    }
  }
}

void AnalysisSession::TakeBadInput(const InputError& error) {
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
  writer_.Started(started);
  const absl::Status status = FlushLocked();
  ShowProgress();
  return status;
}

absl::Status AnalysisSession::OnRecord(v1::SampleRecord record) {
  const std::lock_guard lock(mutex_);
  writer_.Record(record);
  Answered(record.sample_index(), record.positions());
  const absl::Status status = FlushLocked();
  ShowProgress();
  return status;
}

absl::Status AnalysisSession::OnAlpha(const v1::AlphaChunk& alpha) {
  const std::lock_guard lock(mutex_);
  writer_.Alpha(alpha);
  return FlushLocked();
}

absl::Status AnalysisSession::OnSampleError(const v1::SampleError& error) {
  const std::lock_guard lock(mutex_);
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
  if (progress.samples_done() > first_under_way_) Answered(progress.samples_done() - 1, 0);
  done_samples_ = std::max(done_samples_, progress.samples_done());
  done_tokens_ = std::max(done_tokens_, progress.tokens_done());
  ShowProgress();
  return absl::OkStatus();
}

absl::Status AnalysisSession::OnSummary(const v1::Summary& summary) {
  const std::lock_guard lock(mutex_);
  summary_seen_ = true;
  // Without records the summary is what says how many were answered.
  done_samples_ = std::max(done_samples_, summary.samples() + outcome_.samples_failed);
  writer_.Summary(summary);
  return FlushLocked();
}

void AnalysisSession::Answered(int64_t sample_index, int64_t tokens) {
  done_tokens_ += tokens;
  done_samples_ = std::max(done_samples_, sample_index + 1);
  while (!under_way_.empty() && first_under_way_ <= sample_index) {
    done_bytes_ = std::max(done_bytes_, under_way_.front().end_bytes);
    under_way_.pop_front();
    ++first_under_way_;
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
  }
  const double rate = static_cast<double>(done_tokens_) / std::max(0.001, progress_.seconds());
  state.text = fmt::format("{}/{} samples  {} tokens/s", Grouped(done_samples_),
                           Grouped(outcome_.samples_sent), Grouped(static_cast<int64_t>(rate)));
  progress_.Show(state);
}

ExitCode AnalysisSession::Code(const absl::Status& status, bool interrupted) const {
  if (interrupted) return kExitInterrupted;
  if (output_.reader_gone()) return kExitOk;
  if (stopped_by_bad_input_) return kExitUsage;
  if (!status.ok()) return ExitCodeFor(status);
  if (outcome_.samples_failed > 0) return kExitRpcError;
  const bool nothing = outcome_.samples_sent == 0;
  return outcome_.bad_inputs > 0 || nothing ? kExitUsage : kExitOk;
}

ExitCode AnalysisSession::Finish(const absl::Status& status, bool interrupted) {
  const std::lock_guard lock(mutex_);
  const ExitCode code = Code(status, interrupted);
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
  return code;
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
    Say(DescribeFailure(status, server_));
    if (outcome_.samples_sent > 0) {
      Say(fmt::format("{} of {} samples were answered before", done_samples_,
                      outcome_.samples_sent));
    }
  } else if (outcome_.samples_sent == 0 && outcome_.bad_inputs == 0) {
    Say("the input holds no sample; give --input FILE, --text TEXT, or pipe samples in");
  }
  const int64_t failed = outcome_.samples_failed + outcome_.bad_inputs;
  if (failed > 0 && !quiet_) {
    Say(fmt::format("{} of {} samples failed ({} refused by the server, {} not readable)", failed,
                    outcome_.samples_sent + outcome_.bad_inputs, outcome_.samples_failed,
                    outcome_.bad_inputs));
  }
}

}  // namespace sinkd::cli
