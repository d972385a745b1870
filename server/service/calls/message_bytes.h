// Messages as the bytes that raw methods read and write. All our methods are raw, because gRPC
// answers a request that it cannot parse with UNIMPLEMENTED and no explanation.
//
// Thread-safety: pure functions.
#pragma once

#include <string>

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/slice.h>

#include "server/base/status.h"

namespace sinkd {

// False if `bytes` are not such a message; it then holds what was read before the fault.
inline bool ParseMessage(grpc::ByteBuffer bytes, google::protobuf::Message& message) {
  grpc::ProtoBufferReader reader(&bytes);
  return reader.status().ok() && message.ParseFromZeroCopyStream(&reader);
}

inline grpc::ByteBuffer SerializeMessage(const google::protobuf::Message& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

// Deterministic: equal messages give equal bytes, because maps are sorted.
inline std::string CanonicalBytes(const google::protobuf::Message& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

// INVALID_ARGUMENT for bytes that are not a message of this type.
inline absl::Status MalformedMessage(const google::protobuf::Descriptor& type) {
  return InvalidArgument(
      absl::StrCat("a message is not a valid ", type.name()),
      {.reason = "MALFORMED_MESSAGE",
       .subject = "message",
       .fix = absl::StrCat("send ", type.full_name(), " with all text in UTF-8")});
}

}  // namespace sinkd
