// Stored runs and their summaries in every output format.
//
// JSON: one run is the message itself, a list {"runs": [...]}, summaries {"summaries": [...]};
// JSONL: {"type": "run", "run": {...}}, {"type": "runSummary", "runSummary": {...}} a line. The
// mapping is that of json_parts.h.
#pragma once

#include <string>
#include <vector>

#include "client/cli/flags/options.h"
#include "client/cli/output/list_view.h"
#include "client/cli/output/output.h"
#include "client/cli/terminal/terminal.h"
#include "sinks/v1/runs.pb.h"

namespace sinkd::cli {

// "a" for "runs/a".
std::string RunId(const std::string& name);

// "2026-01-02 03:04:05" in UTC.
std::string TimeText(const google::protobuf::Timestamp& time);

const ListView<sinks::v1::Run>& RunListView();

// Summaries, each as it comes. CSV is a row a group, of what the levels say. A table of a numeric
// order is a row a value of the label, written at the end, and the change points.
// Thread-safety: none.
class RunSummaryWriter {
 public:
  RunSummaryWriter(const RunOptions& options, const GlobalOptions& global, const Terminal& terminal,
                   Output& output);
  void Add(const sinks::v1::SummarizeRunsResponse& summary);
  void End();

 private:
  const RunOptions& options_;
  OutputFormat format_;
  CsvTable csv_;
  Terminal terminal_;
  Output& output_;
  std::vector<sinks::v1::SummarizeRunsResponse> series_;  // of a numeric order, for the table
  bool any_ = false;
};

}  // namespace sinkd::cli
