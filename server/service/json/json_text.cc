#include "server/service/json/json_text.h"

#include <chrono>
#include <optional>

#include <absl/strings/str_cat.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver.h>
#include <google/protobuf/util/type_resolver_util.h>

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
std::optional<int64_t> RetryAfter(const absl::Status& error) {
  const std::optional<ErrorDetail> detail = GetErrorDetail(error);
  if (detail && detail->retry_after) {
    return std::chrono::ceil<std::chrono::seconds>(*detail->retry_after).count();
  }
  if (absl::IsUnavailable(error)) return 1;
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
  HttpAnswer answer{.status = HttpStatusOf(error.code()), .content_type = kJsonType};
  answer.body = ToJson(ToRpcStatus(error)).value_or("{}");
  if (const std::optional<int64_t> seconds = RetryAfter(error)) {
    answer.headers.emplace_back("Retry-After", std::to_string(*seconds));
  }
  return answer;
}

}  // namespace sinkd
