// AnalyzeStream's part that deals with the run: opening it, keeping what is ready, summing it up.
#include <utility>
#include <vector>

#include "server/base/status.h"
#include "server/service/analyze/analyze_stream.h"
#include "server/service/analyze/stream_spec.h"
#include "server/service/calls/stream_opening.h"
#include "server/service/runs/stored_record.h"

namespace sinkd {
namespace {

RunGauges GaugesOf(const v1::Summary& summary) {
  RunGauges run{.samples = summary.samples()};
  if (summary.has_levels()) {
    run.secondary_sinks = static_cast<double>(summary.levels().secondary());
    run.secondary_sinks_per_1000_tokens = summary.levels().secondary_per_1000_tokens();
  }
  const v1::ScoreStatistics& scores = summary.scores().primary_position();
  if (scores.count() > 0) run.primary_score_mean = scores.mean();
  if (summary.heads().samples() > 0) {
    run.dormant_heads = summary.heads().dormant_size();
    run.collapsed_heads = summary.heads().collapsed_size();
    run.focused_heads = summary.heads().focused_size();
  }
  return run;
}

}  // namespace

void AnalyzeStream::OpenRun() {
  opening_run_ = true;
  Queue(*plan_->storing, [this]() -> absl::Status {
    SINKD_ASSIGN_OR_RETURN(const RunCounts held, plan_->keeper->Open());
    const std::lock_guard lock(mutex_);
    opening_run_ = false;
    Announce(held);
    return absl::OkStatus();
  });
}

void AnalyzeStream::Announce(const std::optional<RunCounts>& held) {
  if (ended()) return;
  started_.emplace();
  *started_->mutable_started() = DescribeStream(*plan_, limits_, record().request_id());
  const std::string& run = plan_->spec.run_id();
  if (held) {
    started_->mutable_started()->set_stored_samples(held->samples);
    started_->mutable_started()->set_stored_without_digest(held->samples_without_digest);
    started_->mutable_started()->mutable_stored_arithmetics()->Assign(held->arithmetics.begin(),
                                                                      held->arithmetics.end());
  } else if (!run.empty()) {
    record().Note(LogLevel::kInfo, "the run is not kept, since there is no store", {{"run", run}});
  }
}

bool AnalyzeStream::MayAnswerFirst() const {
  if (pending_.empty() || !pending_.front().result) return false;
  return !plan_->keeper || pending_.front().kept;
}

std::optional<Record> AnalyzeStream::TakeForRun(Pending& pending, int64_t sample_index) const {
  absl::StatusOr<SampleResult>& result = *pending.result;
  if (result.ok()) return std::exchange(result->to_keep, std::nullopt);
  // Whoever stops at the first bad sample means to mend it, under the same name.
  const bool would_fail_again =
      absl::IsInvalidArgument(result.status()) && !pending.input_digest.empty();
  if (!would_fail_again || pending.id.empty() || plan_->spec.fail_fast()) return std::nullopt;
  return KeepFailure(pending.id, pending.input_digest, sample_index, result.status());
}

void AnalyzeStream::KeepReady() {
  if (!plan_ || !plan_->keeper || keeping_ || ended()) return;
  std::vector<Record> records;
  for (size_t i = 0; i < pending_.size() && pending_[i].result; ++i) {
    if (pending_[i].kept) continue;
    std::optional<Record> record = TakeForRun(pending_[i], answered_ + static_cast<int64_t>(i));
    if (record) {
      records.push_back(*std::move(record));
    } else {
      pending_[i].kept = true;
    }
  }
  if (records.empty()) return;
  keeping_ = true;
  Queue(*plan_->storing, [this, records = std::move(records)]() -> absl::Status {
    SINKD_RETURN_IF_ERROR(Keep(records));
    const std::lock_guard lock(mutex_);
    keeping_ = false;
    return absl::OkStatus();
  });
}

absl::Status AnalyzeStream::Keep(std::span<const Record> records) {
  const SteadyClock::time_point begin = SteadyClock::now();
  SINKD_ASSIGN_OR_RETURN(std::vector<RunKeeper::Earlier> earlier, plan_->keeper->Keep(records));
  const std::chrono::duration<double> took = SteadyClock::now() - begin;
  for (size_t i = 0; i < records.size(); ++i) {
    record().phases()->Add(SamplePhase::kKeep, took / records.size());
  }
  const std::lock_guard lock(mutex_);
  if (ended()) return absl::OkStatus();
  const auto pending = [this](int64_t index) -> Pending& {
    return pending_[static_cast<size_t>(index - answered_)];
  };
  for (RunKeeper::Earlier& each : earlier) {
    absl::StatusOr<SampleResult>& result = *pending(each.sample_index).result;
    if (each.answer.ok()) {
      result = SampleResult{.record = *std::move(each.answer)};
    } else {
      result = each.answer.status();
    }
  }
  for (const Record& record : records) pending(record.sample_index).kept = true;
  return absl::OkStatus();
}

void AnalyzeStream::SumUp() {
  if (summing_up_) return;
  summing_up_ = true;
  Queue(plan_->keeper ? *plan_->storing : *plan_->cpu, [this]() -> absl::Status {
    sinks::v1::AnalyzeResponse response;
    SINKD_RETURN_IF_ERROR(Conclude(response));
    const std::lock_guard lock(mutex_);
    if (response.has_summary()) {
      summary_ = std::move(response);
    } else {
      End(absl::OkStatus());
    }
    return absl::OkStatus();
  });
}

absl::Status AnalyzeStream::Conclude(sinks::v1::AnalyzeResponse& response) {
  RunKeeper* keeper = plan_->keeper.get();
  if (!plan_->spec.no_summary()) {
    // Nothing is added to the fold any more, so it is read without the lock.
    SINKD_ASSIGN_OR_RETURN(
        *response.mutable_summary(),
        keeper != nullptr ? keeper->SumUp(stop()) : absl::StatusOr<v1::Summary>(fold_->Report()));
    if (keeper != nullptr) {
      resources_.metrics.RunSummarized(ModelIdOf(plan_->spec), GaugesOf(response.summary()));
    }
  }
  return keeper != nullptr ? keeper->Close() : absl::OkStatus();
}

}  // namespace sinkd
