// Study: one question about why sinks form, asked of some samples, worked on in steps so that
// others get the device between two of them.
//
//   std::unique_ptr<Study> study = NewStudy(parameters, model, std::move(samples));
//   while (!study->done()) status = study->Step(stop);
//   StudyReport report = study->Report(reason_it_was_ended_early);
//
// Steps: sinks are detected in batches of samples, targets and controls drawn, then what the study
// measures is measured sample by sample, then summed up.
// Ownership: borrows the model. Thread-safety: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/status.h>

#include "server/engine/model.h"
#include "server/mechanism/study_model.h"
#include "server/mechanism/study_parameters.h"
#include "server/mechanism/study_report.h"

namespace sinkd {

struct StudySample {
  int64_t index = 0;  // place in the request
  TokenIds ids;
  bool chat_rendered = false;
};

struct StepCount {
  std::string_view phase;  // "detect", "capture", ...
  int64_t done = 0;
  int64_t total = 0;
};

class Study {
 public:
  virtual ~Study() = default;

  // The next piece of work. CANCELLED when `stop` was triggered, within one block of the forward
  // pass; what earlier steps found stays. Any other error ends the study.
  virtual absl::Status Step(std::stop_token stop) = 0;
  virtual bool done() const = 0;
  virtual StepCount progress() const = 0;

  // What was found so far; `partial_reason` is empty for a study that is done. Call it once.
  virtual StudyReport Report(std::string partial_reason) = 0;
};

// `parameters` are valid for the model; `samples` are not empty, their ids checked.
std::unique_ptr<Study> NewStudy(StudyParameters parameters, const StudyModel& model,
                                std::vector<StudySample> samples);

}  // namespace sinkd
