// StatusMapping: our errors as google.rpc.Status and as grpc::Status, the one place where inner
// errors become wire errors.
//
//   code                  details beside ErrorInfo (always: reason, domain "sinkd", metadata)
//   INVALID_ARGUMENT      BadRequest: field, description
//   NOT_FOUND             ResourceInfo: type, name
//   FAILED_PRECONDITION   PreconditionFailure: type = reason, subject
//   RESOURCE_EXHAUSTED    QuotaFailure: subject; RetryInfo when retrying can help
//   UNAVAILABLE           RetryInfo, one second when the error names none
//
// Texts are cut so that message and details fit the 8 KiB that clients take as trailers, and bytes
// that are not UTF-8 are replaced.
// Thread-safety: pure functions.
#pragma once

#include <absl/status/status.h>
#include <google/rpc/status.pb.h>
#include <grpcpp/support/status.h>

namespace sinkd {

google::rpc::Status ToRpcStatus(const absl::Status& status);
// Message, code, and what ErrorInfo tells.
absl::Status FromRpcStatus(const google::rpc::Status& status);

// The details travel in the trailer grpc-status-details-bin.
grpc::Status ToGrpcStatus(const absl::Status& status);

}  // namespace sinkd
