// CodecSpec: the first message of an Analyze stream, proto to struct and back.
//
// Thread-safety: pure functions.
// Errors: INVALID_ARGUMENT naming the field ("spec.detection.kind_rule"), its value and its limit.
#pragma once

#include <map>
#include <string>

#include <absl/status/statusor.h>

#include "server/analysis/parameters.h"
#include "server/scheduler/fair_order.h"
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
  std::map<std::string, std::string> run_labels;
  bool keep_run_open = false;
  Lane lane = Lane::kInteractive;
  bool no_summary = false;
  bool replace = false;
};

absl::StatusOr<StreamSpec> DecodeSpec(const sinks::v1::AnalysisSpec& proto,
                                      const std::string& default_template_date);

// The analyses alone, whatever model they are for.
absl::StatusOr<AnalysisSpec> DecodeAnalyses(const sinks::v1::AnalysisSpec& proto);

// Every field set that has a value; presets as the values they stand for.
sinks::v1::AnalysisSpec EncodeSpec(const StreamSpec& spec);
sinks::v1::AnalysisSpec EncodeAnalyses(const AnalysisSpec& analyses);

}  // namespace sinkd
