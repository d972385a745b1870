// ErrorReport: the google.rpc details of an error as plain data, and a readable text of them.
//
// Between this library and its callers an error is an absl::Status that carries the server's
// google.rpc.Status as a payload; ReadErrorReport takes it apart again.
//
// Thread-safety: values; free functions are pure.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <google/rpc/status.pb.h>
#include <grpcpp/support/status.h>

namespace sinkd::client {

// Type URL of the payload that holds the serialized google.rpc.Status.
inline constexpr char kStatusPayload[] = "type.googleapis.com/google.rpc.Status";

// A subject and what is wrong with it.
struct Finding {
  std::string subject;
  std::string description;
};

struct ErrorReport {
  absl::StatusCode code = absl::StatusCode::kOk;
  std::string message;
  std::string reason;                           // ErrorInfo, e.g. "MODEL_NOT_LOADED"; else empty
  std::string domain;                           // ErrorInfo
  std::map<std::string, std::string> metadata;  // ErrorInfo
  std::vector<Finding> fields;                  // BadRequest: field path
  std::vector<Finding> preconditions;           // PreconditionFailure: "TYPE subject"
  std::vector<Finding> quotas;                  // QuotaFailure
  std::vector<Finding> resources;               // ResourceInfo: "type name"
  std::optional<std::chrono::milliseconds> retry_after;  // RetryInfo

  // The server itself answered, and said why; false for errors of the connection.
  bool has_details() const { return !reason.empty() || !fields.empty(); }
};

// Keeps code, message and details. OK stays OK.
absl::Status FromGrpcStatus(const grpc::Status& status);
absl::Status FromRpcStatus(const google::rpc::Status& status);

// Unknown details are left out, a payload that does not parse counts as none.
ErrorReport ReadErrorReport(const absl::Status& status);

// Several lines without a final newline: "CODE_NAME (REASON): message", then one indented line a
// finding and one for the wait. Control characters of the server are made visible.
std::string Describe(const ErrorReport& report);
std::string Describe(const absl::Status& status);

// `text` with control characters, invalid bytes and direction marks written as \n, \x1b, \u{202e}.
std::string MakePrintable(std::string_view text);

}  // namespace sinkd::client
