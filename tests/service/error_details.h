// The google.rpc details of an error, as a client finds them.
#pragma once

#include <optional>

#include <google/rpc/error_details.pb.h>
#include <google/rpc/status.pb.h>
#include <grpcpp/support/status.h>

namespace sinkd::testing {

struct ErrorDetails {
  google::rpc::Status status;
  std::optional<google::rpc::ErrorInfo> info;
  std::optional<google::rpc::BadRequest> bad_request;
  std::optional<google::rpc::ResourceInfo> resource;
  std::optional<google::rpc::PreconditionFailure> precondition;
  std::optional<google::rpc::QuotaFailure> quota;
  std::optional<google::rpc::RetryInfo> retry;
};

ErrorDetails DetailsOf(const google::rpc::Status& status);
ErrorDetails DetailsOf(const grpc::Status& status);  // from the trailer

}  // namespace sinkd::testing
