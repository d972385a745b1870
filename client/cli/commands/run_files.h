// Runs as files: what `runs export` writes and `runs import` reads.
//
// JSONL: {"type": "run", "run": {...}}, then {"type": "storedRecord", "storedRecord": {...}} a
// line. JSON: {"run": {...}, "records": [...]}. CSV: a row a sink, as of `detect`; it cannot be
// read back. Thread-safety: none.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "client/cli/flags/options.h"
#include "client/cli/input/line_reader.h"
#include "client/cli/output/output.h"
#include "client/cli/output/result_writer.h"
#include "sinks/v1/runs.pb.h"

namespace sinkd::cli {

class RunFileWriter {
 public:
  RunFileWriter(const GlobalOptions& global, Output& output);
  void Begin(const sinks::v1::Run& run);
  absl::Status Add(const sinks::v1::StoredRecord& record);
  void End();

 private:
  const OutputFormat format_;
  Output& output_;
  CsvTable csv_;
  bool any_ = false;
};

// The messages of an import, from exported JSONL or published rows.
class RunFileReader {
 public:
  // `header` is what the command line says; the rest is the file's. `stop` is borrowed.
  // INVALID_ARGUMENT when the file cannot be opened.
  static absl::StatusOr<std::unique_ptr<RunFileReader>> Open(const std::string& path,
                                                             sinks::v1::ImportHeader header,
                                                             const StopSignal* stop);

  // The next message, the header first; nullopt at the end. INVALID_ARGUMENT names the line;
  // CANCELLED once stopped.
  absl::StatusOr<std::optional<sinks::v1::ImportRecordsRequest>> Next();

 private:
  RunFileReader(std::string name, LineReader lines, sinks::v1::ImportHeader header,
                const StopSignal* stop);
  absl::StatusOr<std::optional<Line>> NextLine();
  absl::StatusOr<sinks::v1::ImportRecordsRequest> MakeHeader();
  absl::Status TakeRun(const Line& line);
  absl::Status TakeLine(const Line& line, sinks::v1::ImportRecordsRequest& message);
  absl::Status Bad(const Line& line, const std::string& what) const;

  const std::string name_;
  LineReader lines_;
  sinks::v1::ImportHeader header_;
  const StopSignal* stop_;
  bool begun_ = false;
  bool at_end_ = false;
  std::optional<std::string> first_;  // a line that MakeHeader read and that holds a record
  int64_t first_number_ = 0;
};

}  // namespace sinkd::cli
