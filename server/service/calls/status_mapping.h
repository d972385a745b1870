// StatusMapping: our errors as google.rpc.Status and grpc::Status. The only place where internal
// errors become wire errors.
//
//   code                  details beside ErrorInfo (always: reason, domain "sinkd", metadata)
//   INVALID_ARGUMENT      BadRequest: field, description
//   NOT_FOUND             ResourceInfo: type, name
//   FAILED_PRECONDITION   PreconditionFailure: type = reason, subject
//   RESOURCE_EXHAUSTED    QuotaFailure: subject; RetryInfo if retrying can help
//   UNAVAILABLE           RetryInfo, one second unless the error has another
//
// Texts are truncated so that message and details fit the 8 KiB that clients accept as trailers.
// Invalid UTF-8 is replaced.
// Thread-safety: pure functions.
#pragma once

#include <absl/status/status.h>
#include <google/rpc/status.pb.h>
#include <grpcpp/support/status.h>

namespace sinkd {

google::rpc::Status ToRpcStatus(const absl::Status& status);
// Message, code and details.
absl::Status FromRpcStatus(const google::rpc::Status& status);

// The details travel in the trailer grpc-status-details-bin.
grpc::Status ToGrpcStatus(const absl::Status& status);

}  // namespace sinkd
