#include "server/service/calls/status_mapping.h"

#include <chrono>
#include <string>
#include <string_view>

#include <google/rpc/error_details.pb.h>

#include "server/base/status.h"

namespace sinkd {
namespace {

constexpr char kDomain[] = "sinkd";
constexpr size_t kMessageBytes = 800;
constexpr size_t kTextBytes = 300;
constexpr std::chrono::milliseconds kDefaultRetry{1000};

ErrorDetail DetailOf(const absl::Status& status) {
  if (std::optional<ErrorDetail> detail = GetErrorDetail(status)) return *std::move(detail);
  return {.reason = absl::StatusCodeToString(status.code())};
}

void AddErrorInfo(const ErrorDetail& detail, google::rpc::Status& out) {
  google::rpc::ErrorInfo info;
  info.set_reason(Shorten(detail.reason, kTextBytes));
  info.set_domain(kDomain);
  const auto put = [&info](const char* key, const std::string& text) {
    if (!text.empty()) (*info.mutable_metadata())[key] = Shorten(text, kTextBytes);
  };
  put("subject", detail.subject);
  put("value", detail.value);
  put("fix", detail.fix);
  out.add_details()->PackFrom(info);
}

void AddBadRequest(const ErrorDetail& detail, google::rpc::Status& out) {
  google::rpc::BadRequest bad;
  auto* violation = bad.add_field_violations();
  violation->set_field(Shorten(detail.subject, kTextBytes));
  violation->set_description(out.message());
  out.add_details()->PackFrom(bad);
}

void AddResourceInfo(const ErrorDetail& detail, google::rpc::Status& out) {
  google::rpc::ResourceInfo info;
  // "models/a" is a resource of type "models".
  info.set_resource_type(Shorten(detail.subject.substr(0, detail.subject.find('/')), kTextBytes));
  info.set_resource_name(Shorten(detail.subject, kTextBytes));
  info.set_description(out.message());
  out.add_details()->PackFrom(info);
}

void AddPreconditionFailure(const ErrorDetail& detail, google::rpc::Status& out) {
  google::rpc::PreconditionFailure failure;
  auto* violation = failure.add_violations();
  violation->set_type(Shorten(detail.reason, kTextBytes));
  violation->set_subject(Shorten(detail.subject, kTextBytes));
  violation->set_description(out.message());
  out.add_details()->PackFrom(failure);
}

void AddQuotaFailure(const ErrorDetail& detail, google::rpc::Status& out) {
  google::rpc::QuotaFailure failure;
  auto* violation = failure.add_violations();
  violation->set_subject(Shorten(detail.subject, kTextBytes));
  violation->set_description(out.message());
  out.add_details()->PackFrom(failure);
}

void AddRetryInfo(std::chrono::milliseconds delay, google::rpc::Status& out) {
  google::rpc::RetryInfo info;
  info.mutable_retry_delay()->set_seconds(delay.count() / 1000);
  info.mutable_retry_delay()->set_nanos(static_cast<int32_t>(delay.count() % 1000) * 1000000);
  out.add_details()->PackFrom(info);
}

void AddDetailsOfCode(absl::StatusCode code, const ErrorDetail& detail, google::rpc::Status& out) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
      return AddBadRequest(detail, out);
    case absl::StatusCode::kNotFound:
      return AddResourceInfo(detail, out);
    case absl::StatusCode::kFailedPrecondition:
      return AddPreconditionFailure(detail, out);
    case absl::StatusCode::kResourceExhausted:
      AddQuotaFailure(detail, out);
      if (detail.retry_after) AddRetryInfo(*detail.retry_after, out);
      return;
    case absl::StatusCode::kUnavailable:
      return AddRetryInfo(detail.retry_after.value_or(kDefaultRetry), out);
    default:
      return;
  }
}

}  // namespace

google::rpc::Status ToRpcStatus(const absl::Status& status) {
  google::rpc::Status out;
  out.set_code(static_cast<int32_t>(status.code()));  // absl's codes are the canonical ones
  if (status.ok()) return out;
  out.set_message(Shorten({status.message().data(), status.message().size()}, kMessageBytes));
  const ErrorDetail detail = DetailOf(status);
  AddErrorInfo(detail, out);
  AddDetailsOfCode(status.code(), detail, out);
  return out;
}

absl::Status FromRpcStatus(const google::rpc::Status& status) {
  const auto code = static_cast<absl::StatusCode>(status.code());
  ErrorDetail detail{.reason = absl::StatusCodeToString(code)};
  google::rpc::ErrorInfo info;
  for (const google::protobuf::Any& any : status.details()) {
    if (!any.UnpackTo(&info)) continue;
    detail.reason = info.reason();
    const auto take = [&info](const char* key) {
      const auto found = info.metadata().find(key);
      return found == info.metadata().end() ? std::string() : found->second;
    };
    detail.subject = take("subject");
    detail.value = take("value");
    detail.fix = take("fix");
  }
  return WithDetail({code, status.message()}, detail);
}

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const google::rpc::Status rpc = ToRpcStatus(status);
  return grpc::Status(static_cast<grpc::StatusCode>(rpc.code()), rpc.message(),
                      rpc.SerializeAsString());
}

}  // namespace sinkd
