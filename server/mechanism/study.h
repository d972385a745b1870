// Study: one question about why sinks form, asked of some samples, worked on in steps so that
// others get the device between two of them.
//
//   std::unique_ptr<Study> study = NewStudy(request, model, std::move(samples));
//   while (!study->done()) status = study->Step(stop);
//   sinks::v1::StudyReport report = study->Report(reason_it_was_ended_early);
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
#include "sinks/v1/mechanism.pb.h"

namespace sinkd {

namespace v1 = ::sinks::v1;

// Fills in the defaults of the study's parameters, of its detection and of its targets.
void FillStudyDefaults(v1::RunStudyRequest& request);

// Checks them by their rules and against each other. `blocks`: the model's. INVALID_ARGUMENT naming
// the field ("swap.controls_per_sample"), its value and its limit.
absl::Status CheckStudy(const v1::RunStudyRequest& request, int64_t blocks);

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

  // What was found so far, but for `seconds`; `partial_reason` is empty for a study that is done.
  // Call it once.
  virtual v1::StudyReport Report(std::string partial_reason) = 0;
};

// `request` is valid for the model, its defaults filled in, the samples' ids checked. Without
// samples there is nothing to step through, and a report that says why it is empty.
std::unique_ptr<Study> NewStudy(v1::RunStudyRequest request, const StudyModel& model,
                                std::vector<StudySample> samples);

}  // namespace sinkd
