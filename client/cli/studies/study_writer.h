// StudyWriter: one output format of a study.
//
// Calls come in the order of the stream: Started, then errors of samples, then Report, then End,
// which always comes; the ones before may be missing when the call failed. BadInput comes before.
// JSON is one document {"results": [errors ...], "started": ..., "report": ..., "outcome": ...},
// JSONL objects {"type": T, T: ...} with T one of badInput, started, sampleError, report, outcome.
// CSV is the rows of the study alone. Thread-safety: none.
#pragma once

#include <memory>
#include <string>

#include "client/cli/output/result_writer.h"
#include "client/cli/studies/study_command.h"

namespace sinkd::cli {

class StudyWriter {
 public:
  virtual ~StudyWriter() = default;
  virtual void BadInput(const InputError&) {}
  virtual void Started(const sinks::v1::StudyStarted&) {}
  virtual void SampleError(const sinks::v1::SampleError&, const std::string& /*origin*/) {}
  virtual void Report(const sinks::v1::StudyReport&) {}
  virtual void End(const Outcome&) {}
};

// The writer of the format in `global`; `options`, `terminal` and `output` must outlive it.
std::unique_ptr<StudyWriter> MakeStudyWriter(const GlobalOptions& global,
                                             const StudyOptions& options, const Terminal& terminal,
                                             Output& output);

}  // namespace sinkd::cli
