#include "client/error_report.h"

#include <google/protobuf/util/time_util.h>
#include <google/rpc/error_details.pb.h>

#include <iterator>

#include <absl/strings/cord.h>
#include <fmt/format.h>

#include "server/base/utf8.h"

namespace sinkd::client {
namespace {

void ReadDetail(const google::protobuf::Any& detail, ErrorReport& report) {
  if (google::rpc::ErrorInfo info; detail.UnpackTo(&info)) {
    report.reason = info.reason();
    report.domain = info.domain();
    report.metadata.insert(info.metadata().begin(), info.metadata().end());
  } else if (google::rpc::BadRequest request; detail.UnpackTo(&request)) {
    for (const auto& violation : request.field_violations()) {
      report.fields.push_back({violation.field(), violation.description()});
    }
  } else if (google::rpc::PreconditionFailure failure; detail.UnpackTo(&failure)) {
    for (const auto& violation : failure.violations()) {
      report.preconditions.push_back(
          {violation.type() + " " + violation.subject(), violation.description()});
    }
  } else if (google::rpc::QuotaFailure quota; detail.UnpackTo(&quota)) {
    for (const auto& violation : quota.violations()) {
      report.quotas.push_back({violation.subject(), violation.description()});
    }
  } else if (google::rpc::ResourceInfo resource; detail.UnpackTo(&resource)) {
    report.resources.push_back(
        {resource.resource_type() + " " + resource.resource_name(), resource.description()});
  } else if (google::rpc::RetryInfo retry; detail.UnpackTo(&retry)) {
    report.retry_after = std::chrono::milliseconds(
        google::protobuf::util::TimeUtil::DurationToMilliseconds(retry.retry_delay()));
  }
}

void AddFindings(std::string_view label, const std::vector<Finding>& findings,
                 const std::string& message, std::string& text) {
  for (const Finding& finding : findings) {
    text += fmt::format("\n  {}: {}", label, MakePrintable(finding.subject));
    // Servers often repeat the message as the description.
    if (!finding.description.empty() && finding.description != message) {
      text += ": " + MakePrintable(finding.description);
    }
  }
}

}  // namespace

absl::Status FromGrpcStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  absl::Status result(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  if (!status.error_details().empty()) {
    result.SetPayload(kStatusPayload, absl::Cord(status.error_details()));
  }
  return result;
}

absl::Status FromRpcStatus(const google::rpc::Status& status) {
  if (status.code() == 0) return absl::OkStatus();
  absl::Status result(static_cast<absl::StatusCode>(status.code()), status.message());
  result.SetPayload(kStatusPayload, absl::Cord(status.SerializeAsString()));
  return result;
}

ErrorReport ReadErrorReport(const absl::Status& status) {
  ErrorReport report;
  report.code = status.code();
  report.message = std::string(status.message());
  google::rpc::Status details;
  const auto payload = status.GetPayload(kStatusPayload);
  if (!payload || !details.ParseFromString(std::string(*payload))) return report;
  for (const auto& detail : details.details()) ReadDetail(detail, report);
  return report;
}

std::string Describe(const ErrorReport& report) {
  std::string text = absl::StatusCodeToString(report.code);
  if (!report.reason.empty()) text += " (" + MakePrintable(report.reason) + ")";
  text += ": " + MakePrintable(report.message);
  AddFindings("field", report.fields, report.message, text);
  AddFindings("precondition", report.preconditions, report.message, text);
  AddFindings("quota", report.quotas, report.message, text);
  AddFindings("resource", report.resources, report.message, text);
  if (report.retry_after) {
    const double seconds = std::chrono::duration<double>(*report.retry_after).count();
    text += fmt::format("\n  retry after: {} s", seconds);
  }
  return text;
}

std::string Describe(const absl::Status& status) {
  return Describe(ReadErrorReport(status));
}

std::string MakePrintable(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = ReadCodePoint(text.substr(i));
    if (!point.valid) {
      fmt::format_to(std::back_inserter(result), "\\x{:02x}", point.code);
    } else if (point.code == '\n' || point.code == '\r' || point.code == '\t') {
      result += point.code == '\n' ? "\\n" : point.code == '\r' ? "\\r" : "\\t";
    } else if (point.code < 0x20 || (point.code >= 0x7F && point.code < 0xA0)) {
      fmt::format_to(std::back_inserter(result), "\\x{:02x}", point.code);
    } else if (IsInvisible(point.code)) {
      fmt::format_to(std::back_inserter(result), "\\u{{{:x}}}", point.code);
    } else {
      result += text.substr(i, point.bytes);
    }
    i += point.bytes;
  }
  return result;
}

}  // namespace sinkd::client
