// CodecSpec: the first message of an Analyze stream, proto to struct and back.
//
// Thread-safety: pure functions.
// Errors: INVALID_ARGUMENT naming the field ("spec.detection.kind_rule"), its value and its limit.
#pragma once

#include <string>

#include <absl/status/statusor.h>

#include "server/analysis/parameters.h"
#include "sinks/v1/analysis.pb.h"

namespace sinkd {

// A stream's spec with presets resolved and defaults filled in.
struct StreamSpec {
  std::string model_id;  // without "models/"
  std::string run_id;    // may be empty
  bool fail_fast = false;
  bool summary_only = false;
  std::string template_date;  // YYYY-MM-DD
  AnalysisSpec analysis;
};

absl::StatusOr<StreamSpec> DecodeSpec(const sinks::v1::AnalysisSpec& proto,
                                      const std::string& default_template_date);

// Every field set that has a value; presets as the values they stand for.
sinks::v1::AnalysisSpec EncodeSpec(const StreamSpec& spec);

}  // namespace sinkd
