// JsonText: messages and errors as JSON, by protobuf's JSON mapping.
//
// Thread-safety: pure functions.
#pragma once

#include <string>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <google/protobuf/message.h>
#include <google/rpc/status.pb.h>

#include "server/http/http_api.h"

namespace sinkd {

inline constexpr char kJsonType[] = "application/json";

// Deterministic: equal messages give equal text. INTERNAL for text that is not UTF-8.
absl::StatusOr<std::string> ToJson(const google::protobuf::Message& message);

// An error response: a google.rpc.Status with the HTTP status of its code, and Retry-After if
// retrying can help.
HttpAnswer ErrorAnswer(const absl::Status& error);
HttpAnswer ErrorAnswer(const google::rpc::Status& error);

}  // namespace sinkd
