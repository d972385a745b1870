#include "client/cli/output/json_parts.h"

#include <algorithm>
#include <memory>
#include <vector>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/util/json_util.h>
#include <google/rpc/error_details.pb.h>
#include <google/rpc/status.pb.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/error_report.h"

namespace sinkd::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string Dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void DropUnknownDetails(google::protobuf::Message& message);

void DropUnknownDetails(google::protobuf::RepeatedPtrField<google::protobuf::Any>& details) {
  const auto* types = google::protobuf::DescriptorPool::generated_pool();
  const auto unknown = std::remove_if(details.begin(), details.end(), [types](const auto& detail) {
    const std::string& url = detail.type_url();
    return types->FindMessageTypeByName(url.substr(url.rfind('/') + 1)) == nullptr;
  });
  details.erase(unknown, details.end());
}

void DropUnknownDetails(google::protobuf::Message& message) {
  if (message.GetDescriptor() == google::rpc::Status::descriptor()) {
    return DropUnknownDetails(*static_cast<google::rpc::Status&>(message).mutable_details());
  }
  const google::protobuf::Reflection& fields = *message.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> present;
  fields.ListFields(message, &present);
  for (const google::protobuf::FieldDescriptor* field : present) {
    if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      DropUnknownDetails(*fields.MutableMessage(&message, field));
      continue;
    }
    for (int i = 0; i < fields.FieldSize(message, field); ++i) {
      DropUnknownDetails(*fields.MutableRepeatedMessage(&message, field, i));
    }
  }
}

}  // namespace

std::string TypedJson(const char* type, const std::string& body) {
  return fmt::format("{{\"type\":\"{}\",\"{}\":{}}}", type, type, body);
}

std::string SampleErrorJson(const sinks::v1::SampleError& error, const std::string& origin) {
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

std::string ToJson(const google::protobuf::Message& message) {
  std::string json;
  if (google::protobuf::util::MessageToJsonString(message, &json).ok()) return json;
  // It fails only for Any values of unknown type: the details of an error we do not know.
  const std::unique_ptr<google::protobuf::Message> bare(message.New());
  bare->CopyFrom(message);
  DropUnknownDetails(*bare);
  json.clear();
  return google::protobuf::util::MessageToJsonString(*bare, &json).ok() ? json : "{}";
}

}  // namespace sinkd::cli
