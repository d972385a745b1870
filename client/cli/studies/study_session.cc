#include "client/cli/studies/study_session.h"

#include <fmt/format.h>

#include "client/cli/commands/call_setup.h"
#include "client/cli/output/number_format.h"
#include "client/error_report.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

constexpr size_t kMostSamples = 10000;
constexpr size_t kMostBytes = size_t{1} << 30;  // no server receives more

}  // namespace

StudySession::StudySession(SampleReader& reader, ResultWriter& writer, Output& output,
                           ProgressBar& progress, const GlobalOptions& global, bool fail_fast)
    : reader_(reader),
      writer_(writer),
      output_(output),
      progress_(progress),
      global_(global),
      fail_fast_(fail_fast) {}

bool StudySession::Prepare(v1::RunStudyRequest& request) {
  size_t bytes = 0;
  while (auto item = reader_.Next()) {
    if (const auto* error = std::get_if<InputError>(&*item)) {
      TakeBadInput(*error);
      stopped_by_bad_input_ = fail_fast_;
      if (fail_fast_) return false;
      continue;
    }
    auto& sample = std::get<InputSample>(*item);
    bytes += sample.sample.ByteSizeLong();
    if (origins_.size() == kMostSamples || bytes > kMostBytes) {
      TakeBadInput({.source = reader_.Describe(sample.origin),
                    .message = fmt::format("a study takes at most {} samples in {}",
                                           Grouped(static_cast<int64_t>(kMostSamples)),
                                           Bytes(static_cast<int64_t>(kMostBytes)))});
      stopped_by_bad_input_ = true;
      return false;
    }
    origins_.push_back(sample.origin);
    *request.add_samples() = std::move(sample.sample);
  }
  outcome_.samples_sent = static_cast<int64_t>(origins_.size());
  return !origins_.empty() || (request.has_run() && outcome_.bad_inputs == 0);
}

void StudySession::TakeBadInput(const InputError& error) {
  ++outcome_.bad_inputs;
  Say(error.Describe());
  writer_.BadInput(error);
}

std::string StudySession::OriginOf(int64_t sample_index) const {
  if (sample_index < 0 || sample_index >= static_cast<int64_t>(origins_.size())) {
    return fmt::format("sample {}", sample_index);
  }
  return reader_.Describe(origins_[static_cast<size_t>(sample_index)]);
}

absl::Status StudySession::Flush() {
  progress_.Clear();
  return output_.Flush();
}

absl::Status StudySession::OnStarted(const v1::StudyStarted& started) {
  writer_.Started(started);
  return Flush();
}

absl::Status StudySession::OnProgress(const v1::StudyProgress& progress) {
  ProgressState state;
  if (progress.steps_total() > 0) {
    state.share =
        static_cast<double>(progress.steps_done()) / static_cast<double>(progress.steps_total());
  }
  state.text = fmt::format("{} {}/{}", client::MakePrintable(progress.phase()),
                           Grouped(progress.steps_done()), Grouped(progress.steps_total()));
  progress_.Show(state);
  return absl::OkStatus();
}

absl::Status StudySession::OnSampleError(const v1::SampleError& error) {
  ++outcome_.samples_failed;
  progress_.Clear();
  const std::string origin = OriginOf(error.sample_index());
  const absl::Status status = client::FromRpcStatus(error.status());
  Say(origin + ": " + client::Describe(status));
  writer_.SampleError(error, origin);
  const absl::Status flushed = Flush();
  return fail_fast_ ? status : flushed;
}

absl::Status StudySession::OnReport(const v1::StudyReport& report) {
  reported_ = true;
  outcome_.samples_answered = report.samples();
  if (report.partial()) partial_reason_ = report.partial_reason();
  if (report.partial() && partial_reason_.empty()) partial_reason_ = "the server gives no reason";
  progress_.Clear();
  writer_.Report(report);
  return Flush();
}

ExitCode StudySession::Code(const absl::Status& status, bool interrupted) const {
  if (interrupted) return kExitInterrupted;
  if (output_.reader_gone()) return kExitOk;
  if (stopped_by_bad_input_) return kExitUsage;
  if (!status.ok()) return ExitCodeFor(status);
  if (!partial_reason_.empty() && outcome_.samples_answered == 0) return kExitDeadline;
  if (outcome_.samples_failed > 0) return kExitRpcError;
  return outcome_.bad_inputs > 0 || !reported_ ? kExitUsage : kExitOk;
}

ExitCode StudySession::Finish(const absl::Status& status, bool interrupted) {
  const ExitCode code = Code(status, interrupted);
  outcome_.exit_code = code;
  outcome_.status = status;
  writer_.End(outcome_);
  const absl::Status flushed = Flush();
  if (output_.reader_gone()) return code;
  if (!flushed.ok()) {
    Say(std::string(flushed.message()));
    return kExitUsage;
  }
  Remark(status, code);
  return code;
}

void StudySession::Remark(const absl::Status& status, ExitCode code) const {
  if (code == kExitInterrupted) return Say("interrupted: there is no report");
  if (!partial_reason_.empty()) {
    const std::string covered =
        outcome_.samples_answered == 0 ? "nothing was measured"
        : outcome_.samples_sent == 0  // they are those of a run
            ? fmt::format("the numbers cover {} samples", Grouped(outcome_.samples_answered))
            : fmt::format("the numbers cover {} of {} samples", Grouped(outcome_.samples_answered),
                          Grouped(outcome_.samples_sent));
    Say(fmt::format("PARTIAL: {}; {}\n  --time-budget and --timeout allow more time",
                    client::MakePrintable(partial_reason_), covered));
  }
  if (!status.ok() && !stopped_by_bad_input_) {
    Say(DescribeFailure(status, global_));
    if (absl::IsResourceExhausted(status) && !client::ReadErrorReport(status).has_details()) {
      Say("  send fewer samples, or raise the server's --max-message-bytes");
    }
  } else if (outcome_.samples_sent == 0 && outcome_.bad_inputs == 0 && !reported_) {
    Say("the input has no samples; give --input FILE, --text TEXT, or pipe samples in");
  }
  const int64_t failed = outcome_.samples_failed + outcome_.bad_inputs;
  if (failed > 0 && !global_.quiet) {
    Say(fmt::format("{} of {} samples failed ({} refused by the server, {} not readable)", failed,
                    outcome_.samples_sent + outcome_.bad_inputs, outcome_.samples_failed,
                    outcome_.bad_inputs));
  }
}

}  // namespace sinkd::cli
