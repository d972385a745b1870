// A sample's record as it is stored and imported: a serialized sinks.v1.SampleRecord.
#include <limits>

#include <google/protobuf/util/message_differencer.h>

#include "server/service/analyze/codec_record.h"
#include "server/service/runs/decode_record.h"
#include "tests/fuzz/require.h"

using google::protobuf::util::MessageDifferencer;
using sinkd::fuzz::Require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sinks::v1::SampleRecord proto;
  if (!proto.ParseFromArray(data, static_cast<int>(size))) return -1;
  const auto record = sinkd::DecodeRecord(proto);
  if (!record.ok()) {
    sinkd::fuzz::RequireToldError(record.status());
    return 0;
  }
  proto.DiscardUnknownFields();
  const auto parts = sinkd::EncodeRecord(*record, std::numeric_limits<size_t>::max());
  Require(parts.size() == 1, "a record in parts");
  Require(MessageDifferencer::Equivalent(parts[0], proto), "a record changed", proto.DebugString());
  return 0;
}
