#include "error_details.h"

#include <gtest/gtest.h>

namespace sinkd::testing {
namespace {

template <typename Detail>
void Unpack(const google::protobuf::Any& any, std::optional<Detail>& out) {
  Detail detail;
  if (any.UnpackTo(&detail)) out = detail;
}

}  // namespace

ErrorDetails DetailsOf(const google::rpc::Status& status) {
  ErrorDetails out{.status = status};
  for (const google::protobuf::Any& any : status.details()) {
    Unpack(any, out.info);
    Unpack(any, out.bad_request);
    Unpack(any, out.resource);
    Unpack(any, out.precondition);
    Unpack(any, out.quota);
    Unpack(any, out.retry);
  }
  return out;
}

ErrorDetails DetailsOf(const grpc::Status& status) {
  google::rpc::Status rpc;
  EXPECT_TRUE(rpc.ParseFromString(status.error_details()));
  EXPECT_EQ(rpc.code(), static_cast<int>(status.error_code()));
  EXPECT_EQ(rpc.message(), status.error_message());
  return DetailsOf(rpc);
}

}  // namespace sinkd::testing
