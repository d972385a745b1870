// JSON output of an analysis.
//
// Results are objects {"type": T, T: message} with T one of record, alpha, sampleError, badInput.
// JSON is one document {"results": [...], "started": ..., "summary": ..., "outcome": ...}, JSONL
// the same objects and {"type": "started", ...}, {"type": "summary", ...}, {"type": "outcome",
// ...}, one a line.
#pragma once

#include <string>

#include "client/cli/output/result_writer.h"

namespace sinkd::cli {

class JsonlWriter : public ResultWriter {
 public:
  explicit JsonlWriter(Output& output) : output_(output) {}
  void Started(const sinks::v1::AnalyzeStarted& started) override;
  void Record(const sinks::v1::SampleRecord& record) override;
  void Alpha(const sinks::v1::AlphaChunk& alpha) override;
  void SampleError(const sinks::v1::SampleError& error, const std::string& origin) override;
  void BadInput(const InputError& error) override;
  void Summary(const sinks::v1::Summary& summary) override;
  void End(const Outcome& outcome) override;

 private:
  Output& output_;
};

class JsonWriter : public ResultWriter {
 public:
  explicit JsonWriter(Output& output) : output_(output) {}
  void Started(const sinks::v1::AnalyzeStarted& started) override;
  void Record(const sinks::v1::SampleRecord& record) override;
  void Alpha(const sinks::v1::AlphaChunk& alpha) override;
  void SampleError(const sinks::v1::SampleError& error, const std::string& origin) override;
  void BadInput(const InputError& error) override;
  void Summary(const sinks::v1::Summary& summary) override;
  void End(const Outcome& outcome) override;

 private:
  void Result(const std::string& object);

  Output& output_;
  bool any_result_ = false;
  std::string started_;  // JSON, written after the results
  std::string summary_;
};

}  // namespace sinkd::cli
