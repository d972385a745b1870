// What the terminal shows before the summary: the head of a run and the sinks of each sample.
//
// Thread-safety: pure functions.
#pragma once

#include <string>

#include "client/cli/terminal/terminal.h"
#include "sinks/v1/analysis.pb.h"

namespace sinkd::cli {

// "|cos| > 0.9, window rule".
std::string DetectionText(const sinks::v1::DetectionParameters& detection);

// One line: model, format, device, parameters of the detection.
std::string RenderStarted(const sinks::v1::AnalyzeStarted& started, const Terminal& terminal);

struct RecordView {
  bool norms = true;  // margin and norms
  bool scores = false;
  bool curves = true;  // where the record holds them
};

// A line on the sample and a table of its sinks, the primary sink first and marked; with scores, a
// line on the model's learned sinks if it has any.
std::string RenderRecord(const sinks::v1::SampleRecord& record, const RecordView& view,
                         const Terminal& terminal);

// The colour of a kind.
Style KindStyle(sinks::v1::SinkKind kind);

}  // namespace sinkd::cli
