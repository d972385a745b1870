// StudyBase: what all studies share - detecting sinks first, then phases of steps.
//
// A study says in Plan, once all samples are detected, what it does step by step, and in Findings
// what came out. Samples are detected in batches of up to kBatchTokens tokens, a longer one alone.
// Errors of Step: those of StudyModel and of BuildRecord, the latter naming the sample.
// Thread-safety: as Study.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "server/analysis/records.h"
#include "server/mechanism/draws.h"
#include "server/mechanism/study.h"
#include "server/mechanism/targets.h"

namespace sinkd {

class StudyBase : public Study {
 public:
  static constexpr int64_t kBatchTokens = 2048;

  // As NewStudy. Studies inherit it.
  StudyBase(v1::RunStudyRequest request, const StudyModel& model, std::vector<StudySample> samples);

  absl::Status Step(std::stop_token stop) final;
  bool done() const final;
  StepCount progress() const final;
  v1::StudyReport Report(std::string partial_reason) final;

 protected:
  // Steps of one kind, done in order, each in one turn unless it takes another.
  struct Phase {
    std::string_view name;
    int64_t steps = 0;
    std::function<absl::Status(int64_t step, std::stop_token stop)> run;
  };
  using SampleStep = std::function<absl::Status(int64_t sample, std::stop_token stop)>;

  virtual std::vector<Phase> Plan() = 0;

  // Adds what was found so far to the report, as this study's message. Plan may not have been
  // called yet. `missing` is why there may be nothing: why the study ended early, or empty.
  virtual void AddFindings(const std::string& missing, v1::StudyReport& report) = 0;

  // To be called in a step that is not done yet: the next turn calls it again.
  void TakeAnotherTurn() { again_ = true; }

  // A phase with a step per detected sample.
  Phase ForEachSample(std::string_view name, SampleStep run);
  // The same; the report covers the samples that went through it, instead of all detected.
  Phase MeasureEachSample(std::string_view name, SampleStep run);

  // Fills targets_, and target_l_start_ where one of them is meant; `any_start` takes targets that
  // start anywhere unless the filter says where.
  void ChooseTargetsOf(bool any_start);

  // Those of targets_ in one sample.
  std::span<const ChosenPosition> TargetsOf(int64_t sample) const;

  // The controls the report counts.
  virtual int64_t ControlCount() const;

  // Whether the report covers the position's sample.
  bool Covers(const ChosenPosition& position) const { return position.sample < covered(); }
  int64_t covered() const;

  // What Plan chooses; empty until then. The report lists both.
  std::optional<int32_t> target_l_start_;
  std::vector<ChosenPosition> targets_, controls_;

  std::span<const DetectedSample> detected() const { return detected_; }
  const DetectedSample& detected(int64_t sample) const {
    return detected_[static_cast<size_t>(sample)];
  }
  const StudyModel& model() const { return model_; }
  const v1::RunStudyRequest& request() const { return request_; }
  const v1::DetectionParameters& detection() const { return request_.detection(); }
  uint64_t seed() const { return static_cast<uint64_t>(request().seed()); }
  Draws& draws() { return draws_; }

 private:
  absl::Status DetectBatch(size_t batch, std::stop_token stop);
  absl::StatusOr<v1::SampleRecord> Detect(const StudySample& sample, const Trace& trace) const;
  void SkipFinishedPhases();
  void AddPositions(v1::StudyReport& report) const;

  const v1::RunStudyRequest request_;
  const v1::AnalysisSpec analyses_;  // the detection alone
  const StudyModel& model_;
  Draws draws_;
  std::vector<std::vector<StudySample>> batches_;  // to detect
  std::vector<DetectedSample> detected_;
  std::optional<int64_t> measured_;  // samples; set by MeasureEachSample
  std::vector<Phase> phases_;        // the first is detection
  size_t phase_ = 0;
  int64_t step_ = 0;  // of the phase
  bool again_ = false;
};

}  // namespace sinkd
