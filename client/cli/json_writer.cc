#include "client/cli/json_writer.h"

#include <google/protobuf/util/json_util.h>
#include <google/rpc/error_details.pb.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/error_report.h"

namespace sinkd::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string Dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Typed(const char* type, const std::string& body) {
  return fmt::format("{{\"type\":\"{}\",\"{}\":{}}}", type, type, body);
}

std::string ErrorJson(const sinks::v1::SampleError& error, const std::string& origin) {
  std::string body = ToJson(error);
  // `origin` is ours: where the sample came from, beside the fields of the message.
  body.pop_back();
  return body + (body.size() > 1 ? "," : "") + "\"origin\":" + Dump(Json(origin)) + "}";
}

std::string BadInputJson(const InputError& error) {
  Json body = {{"source", error.source}};
  if (error.line > 0) body["line"] = error.line;
  if (error.column > 0) body["column"] = error.column;
  body["message"] = error.message;
  return Dump(body);
}

std::string OutcomeJson(const Outcome& outcome) {
  Json body = {{"exitCode", static_cast<int>(outcome.exit_code)},
               {"samplesSent", outcome.samples_sent},
               {"samplesAnswered", outcome.samples_answered},
               {"samplesFailed", outcome.samples_failed},
               {"badInputs", outcome.bad_inputs}};
  if (!outcome.status.ok()) {
    const client::ErrorReport report = client::ReadErrorReport(outcome.status);
    Json error = {{"code", std::string(absl::StatusCodeToString(report.code))}};
    if (!report.reason.empty()) error["reason"] = report.reason;
    error["message"] = report.message;
    for (const client::Finding& field : report.fields) {
      error["fields"].push_back({{"field", field.subject}, {"description", field.description}});
    }
    if (report.retry_after) error["retryAfterMs"] = report.retry_after->count();
    body["error"] = std::move(error);
  }
  return Dump(body);
}

}  // namespace

std::string ToJson(const google::protobuf::Message& message) {
  std::string json;
  // Fails only for Any values of unknown type: the details of an error we do not know.
  if (google::protobuf::util::MessageToJsonString(message, &json).ok()) return json;
  if (const auto* error = dynamic_cast<const sinks::v1::SampleError*>(&message)) {
    sinks::v1::SampleError bare = *error;
    bare.mutable_status()->clear_details();
    json.clear();
    if (google::protobuf::util::MessageToJsonString(bare, &json).ok()) return json;
  }
  return "{}";
}

void JsonlWriter::Started(const sinks::v1::AnalyzeStarted& started) {
  output_.Write(Typed("started", ToJson(started)) + '\n');
}

void JsonlWriter::Record(const sinks::v1::SampleRecord& record) {
  output_.Write(Typed("record", ToJson(record)) + '\n');
}

void JsonlWriter::Alpha(const sinks::v1::AlphaChunk& alpha) {
  output_.Write(Typed("alpha", ToJson(alpha)) + '\n');
}

void JsonlWriter::SampleError(const sinks::v1::SampleError& error, const std::string& origin) {
  output_.Write(Typed("sampleError", ErrorJson(error, origin)) + '\n');
}

void JsonlWriter::BadInput(const InputError& error) {
  output_.Write(Typed("badInput", BadInputJson(error)) + '\n');
}

void JsonlWriter::Summary(const sinks::v1::Summary& summary) {
  output_.Write(Typed("summary", ToJson(summary)) + '\n');
}

void JsonlWriter::End(const Outcome& outcome) {
  output_.Write(Typed("outcome", OutcomeJson(outcome)) + '\n');
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
  Result(Typed("record", ToJson(record)));
}

void JsonWriter::Alpha(const sinks::v1::AlphaChunk& alpha) {
  Result(Typed("alpha", ToJson(alpha)));
}

void JsonWriter::SampleError(const sinks::v1::SampleError& error, const std::string& origin) {
  Result(Typed("sampleError", ErrorJson(error, origin)));
}

void JsonWriter::BadInput(const InputError& error) {
  Result(Typed("badInput", BadInputJson(error)));
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
