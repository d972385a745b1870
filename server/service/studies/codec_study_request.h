// CodecStudyRequest: what RunStudy is asked, proto to struct and back.
//
// Thread-safety: pure functions.
// Errors: INVALID_ARGUMENT naming the field ("cluster.sites[2]"), its value, its limit and the fix.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <absl/status/statusor.h>

#include "server/mechanism/study_parameters.h"
#include "server/scheduler/fair_order.h"
#include "sinks/v1/mechanism.pb.h"

namespace sinkd {

inline constexpr int kMaxStudySamples = 10000;

// A request with defaults filled in, but for its samples.
struct StudyRequest {
  std::string model_id;       // without "models/"
  std::string template_date;  // YYYY-MM-DD
  std::string run_id;         // without "runs/"; empty: none
  Lane lane = Lane::kInteractive;
  std::optional<std::chrono::duration<double>> time_budget;
  StudyParameters parameters;  // limits are not checked: Validate does, once the model is known
};

absl::StatusOr<StudyRequest> DecodeStudyRequest(const sinks::v1::RunStudyRequest& proto,
                                                const std::string& default_template_date);

// Every field set that has a value, but for the samples.
sinks::v1::RunStudyRequest EncodeStudyRequest(const StudyRequest& request);

}  // namespace sinkd
