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

v1::AnalysisSpec DetectionAlone(const v1::RunStudyRequest& request) {
  v1::AnalysisSpec spec;
  *spec.mutable_detection() = request.detection();
  return spec;
}

}  // namespace

StudyBase::StudyBase(v1::RunStudyRequest request, const StudyModel& model,
                     std::vector<StudySample> samples)
    : request_(std::move(request)),
      analyses_(DetectionAlone(request_)),
      model_(model),
      draws_(seed()),
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
  if (std::exchange(again_, false)) return absl::OkStatus();
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

absl::StatusOr<v1::SampleRecord> StudyBase::Detect(const StudySample& sample,
                                                   const Trace& trace) const {
  const SampleFacts facts{.sample_index = sample.index,
                          .token_ids = sample.ids,
                          .chat_rendered = sample.chat_rendered,
                          .bfloat16 = model_.info().compute_type == "bfloat16"};
  absl::StatusOr<v1::SampleRecord> record = BuildRecord(analyses_, facts, trace, {});
  if (!record.ok()) return NameSample(record.status(), sample.index, {});
  return record;
}

absl::Status StudyBase::DetectBatch(size_t batch, std::stop_token stop) {
  std::vector<TokenIds> ids;
  for (const StudySample& sample : batches_[batch]) ids.push_back(sample.ids);
  const TraceRequest request = RequiredTrace(analyses_);
  SINKD_ASSIGN_OR_RETURN(const std::vector<Trace> traces, model_.Run(ids, request, stop));
  std::vector<DetectedSample> found;
  for (size_t i = 0; i < traces.size(); ++i) {
    StudySample& sample = batches_[batch][i];
    SINKD_ASSIGN_OR_RETURN(v1::SampleRecord record, Detect(sample, traces[i]));
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
  const v1::TargetFilter& filter = request().targets();
  target_l_start_ =
      any_start && !filter.has_l_start() ? std::nullopt : ChooseStart(filter, detected_);
  targets_ = ChooseTargets(filter, target_l_start_, detected_, draws_);
}

std::span<const ChosenPosition> StudyBase::TargetsOf(int64_t sample) const {
  return std::ranges::equal_range(targets_, sample, {}, &ChosenPosition::sample);
}

int64_t StudyBase::ControlCount() const {
  return std::count_if(controls_.begin(), controls_.end(),
                       [this](const ChosenPosition& control) { return Covers(control); });
}

int64_t StudyBase::covered() const {
  return measured_.value_or(static_cast<int64_t>(detected_.size()));
}

void StudyBase::AddPositions(v1::StudyReport& report) const {
  const auto add = [&](const std::vector<ChosenPosition>& chosen, v1::PositionGroup group) {
    for (const ChosenPosition& each : chosen) {
      if (!Covers(each)) continue;
      v1::StudyPosition* position = report.add_positions();
      position->set_sample_index(detected(each.sample).sample.index);
      position->set_position(each.position);
      position->set_token_id(each.token_id);
      position->set_group(group);
      position->set_l_start(each.l_start);
      position->set_same_token(each.same_token);
    }
  };
  add(targets_, v1::POSITION_GROUP_TARGET);
  add(controls_, v1::POSITION_GROUP_CONTROL);
}

v1::StudyReport StudyBase::Report(std::string partial_reason) {
  v1::StudyReport report;
  report.set_partial(!partial_reason.empty());
  report.set_samples(covered());
  int64_t tokens = 0, sinks = 0;
  for (int64_t s = 0; s < covered(); ++s) {
    tokens += static_cast<int64_t>(detected(s).sample.ids.size());
    sinks += detected(s).record.sinks_size();
  }
  report.set_tokens(tokens);
  report.set_sinks(sinks);
  report.set_targets(
      std::count_if(targets_.begin(), targets_.end(),
                    [this](const ChosenPosition& target) { return Covers(target); }));
  report.set_controls(ControlCount());
  if (target_l_start_) report.set_target_l_start(*target_l_start_);
  AddPositions(report);
  AddFindings(partial_reason, report);
  if (report.partial()) report.set_partial_reason(std::move(partial_reason));
  return report;
}

}  // namespace sinkd
