// JSON output of an analysis or a study.
//
// Results are objects {"type": T, T: message} with T one of record, alpha, sampleError, badInput.
// JSON is one document {"results": [...], "started": ..., "summary" or "report": ..., "outcome":
// ...}, JSONL the same objects and {"type": "started", ...}, {"type": "summary", ...}, {"type":
// "report", ...}, {"type": "outcome", ...}, one a line.
#pragma once

#include <string>

#include "client/cli/output/json_parts.h"
#include "client/cli/output/result_writer.h"

namespace sinkd::cli {

class JsonlWriter : public ResultWriter {
 public:
  explicit JsonlWriter(Output& output) : output_(output) {}
  void Started(const sinks::v1::AnalyzeStarted& started) override { Add("started", started); }
  void Started(const sinks::v1::StudyStarted& started) override { Add("started", started); }
  void Record(const sinks::v1::SampleRecord& record) override { Add("record", record); }
  void Alpha(const sinks::v1::AlphaChunk& alpha) override { Add("alpha", alpha); }
  void SampleError(const sinks::v1::SampleError& error, const std::string& origin) override {
    Write("sampleError", SampleErrorJson(error, origin));
  }
  void BadInput(const InputError& error) override { Write("badInput", BadInputJson(error)); }
  void Summary(const sinks::v1::Summary& summary) override { Add("summary", summary); }
  void Report(const sinks::v1::StudyReport& report) override { Add("report", report); }
  void End(const Outcome& outcome) override { Write("outcome", OutcomeJson(outcome)); }

 protected:
  virtual void Write(const char* type, const std::string& body);

  Output& output_;

 private:
  void Add(const char* type, const google::protobuf::Message& message) {
    Write(type, ToJson(message));
  }
};

class JsonWriter final : public JsonlWriter {
 public:
  using JsonlWriter::JsonlWriter;

 private:
  void Write(const char* type, const std::string& body) override;

  bool any_result_ = false;
  std::string tail_;  // of the document: what is written after the results
};

}  // namespace sinkd::cli
