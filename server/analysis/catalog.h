// Catalog: the table of analyses, the one place where an analysis is registered. Help texts and
// documents, what the engine must trace, what is written into records and what a summary folds all
// come from it.
//
// Adding an analysis: its file pair, its parameters in parameters.h, its members in records.h and
// summary.h, and one row here.
// Thread-safety: constant data.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "server/analysis/accumulator.h"
#include "server/analysis/parameters.h"
#include "server/analysis/records.h"
#include "server/engine/trace.h"

namespace sinkd {

struct AnalysisEntry {
  std::string_view name;         // the field of v1::AnalysisSpec
  std::string_view description;  // one line
  std::string_view needs;        // what of the model it reads, in words
  bool needs_attention;          // TraceRequest::attention

  bool (*requested)(const v1::AnalysisSpec&);
  // Writes its part of a record that already holds the sinks; nullptr when it has none.
  void (*fill)(const v1::AnalysisSpec&, const Trace&, SampleRecord&);
  // Its part of a summary; nullptr when it has none.
  std::unique_ptr<Accumulator> (*accumulate)(const v1::AnalysisSpec&);
};

// In the order in which they run.
std::span<const AnalysisEntry> Analyses();

}  // namespace sinkd
