// A study without a model: counts its steps, does in each what the test says, and reports how far
// it came.
//
// Thread-safety: a script is set before the server runs studies.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "server/mechanism/study.h"

namespace sinkd::testing {

// What all fake studies of a runner share.
struct StudyScript {
  // Called for step 0, 1, ... of a study; an error is what the step answers.
  std::function<absl::Status(int64_t step, std::stop_token stop)> on_step;
  // Whether a study that took so many steps is done; by default after three.
  std::function<bool(int64_t steps)> is_done = [](int64_t steps) { return steps >= 3; };
};

// Reports norms of a block per step done, for as many samples; its samples and their tokens are
// what it was given once a step was done, else none.
class FakeStudy final : public Study {
 public:
  FakeStudy(const StudyScript& script, std::vector<StudySample> samples)
      : script_(script), samples_(std::move(samples)) {}

  absl::Status Step(std::stop_token stop) override;
  bool done() const override { return script_.is_done(steps_); }
  StepCount progress() const override { return {"fake", steps_, 3}; }
  v1::StudyReport Report(std::string partial_reason) override;

 private:
  const StudyScript& script_;
  const std::vector<StudySample> samples_;
  int64_t steps_ = 0;
};

}  // namespace sinkd::testing
