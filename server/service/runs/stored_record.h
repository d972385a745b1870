// StoredRecord: the records of a run as the store keeps them, and as sinks.v1 tells them.
//
// A payload is a serialized sinks.v1.SampleRecord, or SampleError when the sample failed; an input
// is a serialized sinks.v1.TokenIdsInput.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "server/analysis/records.h"
#include "server/store/run_store.h"
#include "server/tokenizer/sample_encoder.h"
#include "sinks/v1/runs.pb.h"

namespace sinkd {

// What a sample without a name of the caller's is known by: the digest of its token ids and of what
// its record says of them, and "sha256:" before that in hexadecimal digits.
std::string DigestOfTokens(const EncodedSample& sample);
std::string KeyOfDigest(std::string_view digest);
// `sample_id`, where that can be a key, else the digest of it; empty when it is empty.
std::string KeyOfId(std::string_view sample_id);

// As a record of the store; with `sample`, its tokens too. An empty digest: the input is not known.
Record KeepRecord(std::string key, std::string input_digest, const v1::SampleRecord& record,
                  const EncodedSample* sample = nullptr);
Record KeepFailure(const std::string& sample_id, std::string input_digest, int64_t sample_index,
                   const absl::Status& status);

// A record of the store. INTERNAL when the payload is none.
absl::StatusOr<sinks::v1::StoredRecord> EncodeStored(const Record& record);
// The other way: checked wholly, the sequence left out. INVALID_ARGUMENT names the record.
absl::StatusOr<Record> DecodeStored(sinks::v1::StoredRecord&& proto);

// The payload of a record that did not fail: as it is for whoever checks it, and checked. INTERNAL
// as above; INVALID_ARGUMENT of CheckRecord.
absl::Status ParsePayload(const Record& stored, v1::SampleRecord& record);
absl::Status ReadPayload(const Record& stored, v1::SampleRecord& record);
// The payload of one that failed. INTERNAL as above.
absl::StatusOr<sinks::v1::SampleError> ReadFailure(const Record& record);

// Past the primary sink, by kind.
SinkCounts CountSinks(const v1::SampleRecord& record);

}  // namespace sinkd
