#include "server/service/json/json_text.h"

#include <optional>

#include <absl/strings/str_cat.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver.h>
#include <google/protobuf/util/type_resolver_util.h>
#include <google/rpc/error_details.pb.h>

#include "server/base/status.h"
#include "server/service/calls/message_bytes.h"
#include "server/service/calls/status_mapping.h"

namespace sinkd {
namespace {

// As google.rpc.Code has them, but for FAILED_PRECONDITION, which says nothing against the request.
int HttpStatusOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return 400;
    case absl::StatusCode::kUnauthenticated:
      return 401;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kFailedPrecondition:
      return 409;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    case absl::StatusCode::kUnimplemented:
      return 501;
    case absl::StatusCode::kUnavailable:
      return 503;
    case absl::StatusCode::kDeadlineExceeded:
      return 504;
    default:
      return 500;
  }
}

// Whole seconds; nullopt where retrying as it is cannot help.
std::optional<int64_t> RetryAfter(const google::rpc::Status& error) {
  google::rpc::RetryInfo info;
  for (const google::protobuf::Any& detail : error.details()) {
    if (detail.UnpackTo(&info)) {
      return info.retry_delay().seconds() + (info.retry_delay().nanos() > 0 ? 1 : 0);
    }
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<std::string> ToJson(const google::protobuf::Message& message) {
  constexpr char kTypes[] = "type.googleapis.com";
  static google::protobuf::util::TypeResolver& resolver =
      *google::protobuf::util::NewTypeResolverForDescriptorPool(
          kTypes, google::protobuf::DescriptorPool::generated_pool());
  std::string json;
  // The same message has the same JSON, and that the same ETag.
  const std::string type = absl::StrCat(kTypes, "/", message.GetDescriptor()->full_name());
  if (!google::protobuf::util::BinaryToJsonString(&resolver, type, CanonicalBytes(message), &json)
           .ok()) {
    return Internal("an answer has no JSON form");
  }
  return json;
}

HttpAnswer ErrorAnswer(const absl::Status& error) {
  return ErrorAnswer(ToRpcStatus(error));
}

HttpAnswer ErrorAnswer(const google::rpc::Status& error) {
  HttpAnswer answer{.status = HttpStatusOf(static_cast<absl::StatusCode>(error.code())),
                    .content_type = kJsonType};
  answer.body = ToJson(error).value_or("{}");
  if (const std::optional<int64_t> seconds = RetryAfter(error)) {
    answer.headers.emplace_back("Retry-After", std::to_string(*seconds));
  }
  return answer;
}

}  // namespace sinkd
