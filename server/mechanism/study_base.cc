#include "server/mechanism/study_base.h"

#include <algorithm>
#include <utility>

#include "server/analysis/record_builder.h"
#include "server/base/sample_name.h"
#include "server/base/status.h"
#include "server/base/work_beat.h"

namespace sinkd {
namespace {

std::vector<std::vector<StudySample>> Batch(std::vector<StudySample> samples) {
  std::vector<std::vector<StudySample>> batches;
  size_t tokens = 0;
  for (StudySample& sample : samples) {
    tokens += sample.ids.size();
    if (batches.empty() || tokens > StudyBase::kBatchTokens) {
      batches.emplace_back();
      tokens = sample.ids.size();
    }
    batches.back().push_back(std::move(sample));
  }
  return batches;
}

}  // namespace

StudyBase::StudyBase(const StudyParameters& parameters, const StudyModel& model,
                     std::vector<StudySample> samples)
    : parameters_(parameters),
      model_(model),
      draws_(parameters.seed),
      batches_(Batch(std::move(samples))) {
  phases_.push_back(
      {"detect", static_cast<int64_t>(batches_.size()), [this](int64_t step, std::stop_token stop) {
         return DetectBatch(static_cast<size_t>(step), stop);
       }});
}

absl::Status StudyBase::Step(std::stop_token stop) {
  if (done()) return absl::OkStatus();
  Beat();
  if (stop.stop_requested()) return Cancelled("the study was cancelled");
  SINKD_RETURN_IF_ERROR(phases_[phase_].run(step_, stop));
  ++step_;
  if (phase_ == 0 && step_ == phases_[0].steps) {
    for (Phase& phase : Plan()) phases_.push_back(std::move(phase));
  }
  SkipFinishedPhases();
  return absl::OkStatus();
}

void StudyBase::SkipFinishedPhases() {
  while (phase_ < phases_.size() && step_ == phases_[phase_].steps) {
    ++phase_;
    step_ = 0;
  }
}

bool StudyBase::done() const {
  return phase_ == phases_.size();
}

StepCount StudyBase::progress() const {
  if (done()) return {phases_.back().name, phases_.back().steps, phases_.back().steps};
  return {phases_[phase_].name, step_, phases_[phase_].steps};
}

absl::StatusOr<SampleRecord> StudyBase::Detect(const StudySample& sample,
                                               const Trace& trace) const {
  const SampleFacts facts{.sample_index = sample.index,
                          .token_ids = sample.ids,
                          .chat_rendered = sample.chat_rendered,
                          .bfloat16 = model_.info().compute_type == "bfloat16"};
  absl::StatusOr<SampleRecord> record =
      BuildRecord({.detection = parameters_.detection}, facts, trace, {});
  if (!record.ok()) return NameSample(record.status(), sample.index, {});
  return record;
}

absl::Status StudyBase::DetectBatch(size_t batch, std::stop_token stop) {
  std::vector<TokenIds> ids;
  for (const StudySample& sample : batches_[batch]) ids.push_back(sample.ids);
  const TraceRequest request = RequiredTrace({.detection = parameters_.detection});
  SINKD_ASSIGN_OR_RETURN(const std::vector<Trace> traces, model_.Run(ids, request, stop));
  std::vector<DetectedSample> found;
  for (size_t i = 0; i < traces.size(); ++i) {
    StudySample& sample = batches_[batch][i];
    SINKD_ASSIGN_OR_RETURN(SampleRecord record, Detect(sample, traces[i]));
    found.push_back({sample, std::move(record)});
  }
  std::move(found.begin(), found.end(), std::back_inserter(detected_));
  batches_[batch].clear();
  return absl::OkStatus();
}

StudyBase::Phase StudyBase::ForEachSample(std::string_view name, SampleStep run) {
  return {name, static_cast<int64_t>(detected_.size()), std::move(run)};
}

StudyBase::Phase StudyBase::MeasureEachSample(std::string_view name, SampleStep run) {
  measured_ = 0;
  return ForEachSample(name, [this, run = std::move(run)](int64_t sample, std::stop_token stop) {
    SINKD_RETURN_IF_ERROR(run(sample, stop));
    measured_ = sample + 1;
    return absl::OkStatus();
  });
}

void StudyBase::ChooseTargetsOf(bool any_start) {
  const TargetFilter& filter = parameters_.targets;
  target_l_start_ = any_start ? filter.l_start : ChooseStart(filter, detected_);
  targets_ = ChooseTargets(filter, target_l_start_, detected_, draws_);
}

int64_t StudyBase::ControlCount() const {
  return std::count_if(controls_.begin(), controls_.end(),
                       [this](const ChosenPosition& control) { return Covers(control); });
}

int64_t StudyBase::covered() const {
  return measured_.value_or(static_cast<int64_t>(detected_.size()));
}

std::vector<StudyPosition> StudyBase::Positions() const {
  std::vector<StudyPosition> positions;
  const auto add = [&](const std::vector<ChosenPosition>& chosen, PositionGroup group) {
    for (const ChosenPosition& each : chosen) {
      if (!Covers(each)) continue;
      positions.push_back({detected(each.sample).sample.index, each.position, each.token_id, group,
                           each.l_start, each.same_token});
    }
  };
  add(targets_, PositionGroup::kTarget);
  add(controls_, PositionGroup::kControl);
  return positions;
}

StudyReport StudyBase::Report(std::string partial_reason) {
  StudyReport report;
  report.partial = !partial_reason.empty();
  report.samples = covered();
  for (int64_t s = 0; s < covered(); ++s) {
    report.tokens += static_cast<int64_t>(detected(s).sample.ids.size());
    report.sinks += static_cast<int64_t>(detected(s).record.sinks.size());
  }
  report.targets = std::count_if(targets_.begin(), targets_.end(),
                                 [this](const ChosenPosition& target) { return Covers(target); });
  report.controls = ControlCount();
  report.target_l_start = target_l_start_;
  report.positions = Positions();
  report.findings = Findings(partial_reason);
  report.partial_reason = std::move(partial_reason);
  return report;
}

}  // namespace sinkd
