#include "client/cli/output/json_writer.h"

#include "client/cli/output/json_parts.h"

namespace sinkd::cli {

void JsonlWriter::Started(const sinks::v1::AnalyzeStarted& started) {
  output_.Write(TypedJson("started", ToJson(started)) + '\n');
}

void JsonlWriter::Record(const sinks::v1::SampleRecord& record) {
  output_.Write(TypedJson("record", ToJson(record)) + '\n');
}

void JsonlWriter::Alpha(const sinks::v1::AlphaChunk& alpha) {
  output_.Write(TypedJson("alpha", ToJson(alpha)) + '\n');
}

void JsonlWriter::SampleError(const sinks::v1::SampleError& error, const std::string& origin) {
  output_.Write(TypedJson("sampleError", SampleErrorJson(error, origin)) + '\n');
}

void JsonlWriter::BadInput(const InputError& error) {
  output_.Write(TypedJson("badInput", BadInputJson(error)) + '\n');
}

void JsonlWriter::Summary(const sinks::v1::Summary& summary) {
  output_.Write(TypedJson("summary", ToJson(summary)) + '\n');
}

void JsonlWriter::End(const Outcome& outcome) {
  output_.Write(TypedJson("outcome", OutcomeJson(outcome)) + '\n');
}

void JsonWriter::Result(const std::string& object) {
  output_.Write(any_result_ ? ",\n  " : "{\"results\":[\n  ");
  output_.Write(object);
  any_result_ = true;
}

void JsonWriter::Started(const sinks::v1::AnalyzeStarted& started) {
  started_ = ToJson(started);
}

void JsonWriter::Record(const sinks::v1::SampleRecord& record) {
  Result(TypedJson("record", ToJson(record)));
}

void JsonWriter::Alpha(const sinks::v1::AlphaChunk& alpha) {
  Result(TypedJson("alpha", ToJson(alpha)));
}

void JsonWriter::SampleError(const sinks::v1::SampleError& error, const std::string& origin) {
  Result(TypedJson("sampleError", SampleErrorJson(error, origin)));
}

void JsonWriter::BadInput(const InputError& error) {
  Result(TypedJson("badInput", BadInputJson(error)));
}

void JsonWriter::Summary(const sinks::v1::Summary& summary) {
  summary_ = ToJson(summary);
}

void JsonWriter::End(const Outcome& outcome) {
  output_.Write(any_result_ ? "\n]" : "{\"results\":[]");
  if (!started_.empty()) output_.Write(",\n\"started\":" + started_);
  if (!summary_.empty()) output_.Write(",\n\"summary\":" + summary_);
  output_.Write(",\n\"outcome\":" + OutcomeJson(outcome) + "}\n");
}

}  // namespace sinkd::cli
