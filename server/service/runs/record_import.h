// RecordImport: stores records that were made elsewhere, message by message.
//
// Memory is that of one message and, for published rows, of one number a row.
// Thread-safety: none; one thread at a time, which may wait for the store.
// Errors: those of RunStore; INVALID_ARGUMENT naming the record or line, and the fix. What came
// before stays stored.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "server/analysis/published_rows.h"
#include "server/store/run_store.h"
#include "sinks/v1/runs.pb.h"

namespace sinkd {

class RecordImport {
 public:
  // `store` is borrowed; `template_date` is the spec's where it names none.
  RecordImport(RunStore& store, std::string template_date);

  // The header first, then records or lines, as its format says.
  absl::Status Take(sinks::v1::ImportRecordsRequest&& request);
  // All has come: the run is complete.
  absl::StatusOr<sinks::v1::ImportRecordsResponse> Finish();

 private:
  absl::Status TakeHeader(const sinks::v1::ImportHeader& header);
  absl::Status TakeFormat(const sinks::v1::ImportHeader& header);
  absl::Status OpenRun(const NewRun& run);
  absl::StatusOr<std::vector<Record>> DecodeRecords(sinks::v1::ImportRecordsRequest& request);
  absl::StatusOr<std::vector<Record>> DecodeLines(const sinks::v1::ImportRecordsRequest& request);
  absl::StatusOr<Record> DecodeLine(const std::string& line);
  absl::Status CheckLayers(int64_t layers);
  absl::Status Append(const std::vector<Record>& records);

  RunStore& store_;
  const std::string template_date_;
  std::string run_id_;  // empty until the header came
  bool published_ = false;
  PublishedRowFormat row_format_;
  int64_t layers_ = 0;  // of the run's model; 0: no record has told yet
  int64_t lines_ = 0;
  std::map<int64_t, int64_t> rows_;  // by sample_index, how many came of it
  AppendOptions options_{.replace = false, .compare_payloads = true};
  int64_t imported_ = 0;
  int64_t replaced_ = 0;
  int64_t already_there_ = 0;
};

}  // namespace sinkd
