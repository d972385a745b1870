// ResultWriter: one output format of an analysis or a study.
//
// Calls come in the order of the stream: Started, then per-sample results, then Summary or Report,
// then End, which always comes; the ones before may be missing when the stream broke. BadInput may
// come at any time before End. Every call leaves a whole line, so that a reader of the pipe sees
// results as they are ready. Nothing is kept from sample to sample.
// Thread-safety: none; the session locks.
#pragma once

#include <memory>
#include <string>

#include "client/cli/exit_code.h"
#include "client/cli/flags/options.h"
#include "client/cli/input/sample_reader.h"
#include "client/cli/output/csv_table.h"
#include "client/cli/output/output.h"
#include "client/cli/terminal/terminal.h"
#include "sinks/v1/analysis.pb.h"
#include "sinks/v1/mechanism.pb.h"

namespace sinkd::cli {

// How the stream ended.
struct Outcome {
  ExitCode exit_code = kExitOk;
  int64_t samples_sent = 0;
  int64_t samples_answered = 0;
  int64_t samples_failed = 0;  // answered with an error
  int64_t bad_inputs = 0;      // not sent
  absl::Status status;         // of the stream
};

class ResultWriter {
 public:
  virtual ~ResultWriter() = default;
  virtual void Started(const sinks::v1::AnalyzeStarted&) {}
  virtual void Started(const sinks::v1::StudyStarted&) {}
  virtual void Record(const sinks::v1::SampleRecord&) {}
  virtual void Alpha(const sinks::v1::AlphaChunk&) {}
  virtual void SampleError(const sinks::v1::SampleError&, const std::string& /*origin*/) {}
  virtual void BadInput(const InputError&) {}
  virtual void Summary(const sinks::v1::Summary&) {}
  virtual void Report(const sinks::v1::StudyReport&) {}
  virtual void End(const Outcome&) {}
};

// The writers of the format in `global`; what they are given must outlive them.
std::unique_ptr<ResultWriter> MakeResultWriter(const GlobalOptions& global,
                                               const AnalyzeOptions& options,
                                               const Terminal& terminal, Output& output);
std::unique_ptr<ResultWriter> MakeStudyWriter(const GlobalOptions& global,
                                              const StudyOptions& options, const Terminal& terminal,
                                              Output& output);

// CSV of sinks: a row a sink, the primary sink first (role: primary, sink).
extern const std::string_view kSinkColumns;
std::string SinkRows(const sinks::v1::SampleRecord& record, const CsvTable& csv);

}  // namespace sinkd::cli
