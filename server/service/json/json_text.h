// JsonText: messages and errors as the JSON that the protocol's JSON mapping makes of them.
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

// The same message always gives the same text. INTERNAL for text that is not UTF-8.
absl::StatusOr<std::string> ToJson(const google::protobuf::Message& message);

// An error as an answer: a google.rpc.Status under the HTTP status of its code, with Retry-After
// where retrying can help.
HttpAnswer ErrorAnswer(const absl::Status& error);
HttpAnswer ErrorAnswer(const google::rpc::Status& error);

}  // namespace sinkd
