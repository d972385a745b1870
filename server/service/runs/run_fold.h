// RunFold: the records of stored runs, folded into one summary as they are read.
//
// While a page of records is folded the next one is read, so memory is that of two pages and of the
// summary (summary.h). Failed samples are left out.
// The same records give the same summary to the last bit, however many streams brought them into
// however many runs (summary.h).
//
// Thread-safety: none; one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include <absl/status/status.h>

#include "server/analysis/parameters.h"
#include "server/analysis/summary.h"
#include "server/store/run_store.h"

namespace sinkd {

// Sinks of one first layer, or one lifetime, or both.
struct LevelFilter {
  std::optional<int32_t> l_start;
  std::optional<int32_t> lifetime;

  bool empty() const { return !l_start && !lifetime; }
};

class RunFold {
 public:
  // `level` takes the other sinks out of every record; with one, compensation and the sink rate,
  // which are not about single sinks, are left out of the summary.
  RunFold(v1::AnalysisSpec spec, const LevelFilter& level);

  // Waits for the store. CANCELLED once `stop` is set; errors of the store, of ParsePayload and of
  // Summary::Add.
  absl::Status Add(RunStore& store, const std::string& run_id, const std::stop_token& stop);

  v1::Summary Report() const;
  // What was folded.
  const v1::AnalysisSpec& spec() const { return summary_.spec(); }

 private:
  absl::Status AddPage(const std::vector<Record>& records);
  void RemoveSinks();  // those of other levels

  const LevelFilter level_;
  v1::SampleRecord record_;  // its memory serves record after record
  Summary summary_;
};

}  // namespace sinkd
