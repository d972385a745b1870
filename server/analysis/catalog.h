// Catalog: the table of analyses, the one place where an analysis is registered. What the engine
// must trace, what is written into records, what a summary folds, and which stored records serve it
// all come from it.
//
// Adding an analysis: its file pair, its messages in sinks.v1, and one row here.
// Thread-safety: constant data, pure functions.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include <absl/status/status.h>

#include "server/analysis/accumulator.h"
#include "server/analysis/parameters.h"
#include "server/analysis/records.h"
#include "server/engine/trace.h"

namespace sinkd {

struct AnalysisEntry {
  std::string_view name;         // the field of AnalysisSpec
  std::string_view description;  // one line
  std::string_view needs;        // what of the model it reads, in words
  bool needs_attention = false;  // TraceRequest::attention; alpha is then a part of its numbers

  // Writes its part of a record that already holds the sinks; nullptr when it has none.
  void (*fill)(const v1::AnalysisSpec&, const Trace&, v1::SampleRecord&) = nullptr;
  // Checks its part of a record, if the record has it (record_part.h); nullptr when it has none.
  absl::Status (*check)(const v1::SampleRecord&) = nullptr;
  // Its part of a summary; nullptr when it has none.
  std::unique_ptr<Accumulator> (*accumulate)(const v1::AnalysisSpec&) = nullptr;

  // The analysis whose part of records it folds; empty: it folds sinks as they were found.
  std::string_view folds = {};
  bool of_sinks = true;         // other sinks give other numbers
  bool of_single_sinks = true;  // each sink counts by itself, so that some can be left out
  // Its own parameters change its part of records, and not only how records are folded.
  bool parameters_in_record = false;
};

// Whether `spec` asks for it.
bool Requested(const AnalysisEntry& analysis, const v1::AnalysisSpec& spec);
// Removes it from `spec`.
void Drop(const AnalysisEntry& analysis, v1::AnalysisSpec& spec);
// Its parameters in `spec`, those of none where it is not requested.
const google::protobuf::Message& ParametersOf(const AnalysisEntry& analysis,
                                              const v1::AnalysisSpec& spec);

// In the order in which they run.
std::span<const AnalysisEntry> Analyses();
const AnalysisEntry& AnalysisNamed(std::string_view name);  // one of them

}  // namespace sinkd
