// ErrorReport: the google.rpc details of an error as plain data and as readable text.
//
// This library returns errors as an absl::Status with the server's google.rpc.Status as a payload;
// ReadErrorReport parses it.
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

// A subject and its problem.
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

  // True if the server returned the error with a reason; false for errors of the connection.
  bool has_details() const { return !reason.empty() || !fields.empty(); }
};

// Keeps code, message and details. OK stays OK.
absl::Status FromGrpcStatus(const grpc::Status& status);
absl::Status FromRpcStatus(const google::rpc::Status& status);

// Ignores unknown details, and a payload that cannot be parsed.
ErrorReport ReadErrorReport(const absl::Status& status);

// Returns several lines without a final newline: "CODE_NAME (REASON): message", then one indented
// line per finding and one for the retry delay. Control characters are made visible.
std::string Describe(const ErrorReport& report);
std::string Describe(const absl::Status& status);

// `text` with control characters, invalid bytes and direction marks written as \n, \x1b, \u{202e}.
std::string MakePrintable(std::string_view text);

}  // namespace sinkd::client
