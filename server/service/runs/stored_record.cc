#include "server/service/runs/stored_record.h"

#include <cstdint>
#include <optional>
#include <utility>

#include <absl/strings/str_cat.h>

#include "server/access/sha256.h"
#include "server/analysis/record_check.h"
#include "server/base/status.h"
#include "server/service/calls/status_mapping.h"
#include "server/store/run_rules.h"

namespace sinkd {
namespace {

void AppendNumber(int64_t number, std::string& bytes) {
  for (int shift = 0; shift < 64; shift += 8) {
    bytes += static_cast<char>(static_cast<uint64_t>(number) >> shift);
  }
}

absl::Status NoPayload(const Record& record) {
  return Internal(absl::StrCat("the record of sample ", Shorten(record.sample_key),
                               " in the store cannot be read"));
}

std::string EncodeInput(const EncodedSample& sample) {
  sinks::v1::TokenIdsInput out;
  out.mutable_ids()->Assign(sample.ids.begin(), sample.ids.end());
  out.set_chat_rendered(sample.chat_rendered);
  return out.SerializeAsString();
}

absl::Status BadStored(const std::string& what, const sinks::v1::StoredRecord& record,
                       const std::string& fix) {
  return InvalidArgument(what, {.reason = "BAD_STORED_RECORD",
                                .subject = "records",
                                .value = Shorten(record.sample_key()),
                                .fix = fix});
}

void TakeRecord(const v1::SampleRecord& record, Record& out) {
  out.sample_index = record.sample_index();
  out.tokens = record.positions();
  out.sinks = CountSinks(record);
  out.arithmetic = record.arithmetic();
  out.payload = record.SerializeAsString();
}

absl::Status TakeOutcome(const sinks::v1::StoredRecord& proto, Record& out) {
  switch (proto.outcome_case()) {
    case sinks::v1::StoredRecord::kRecord: {
      const v1::SampleRecord& record = proto.record();
      SINKD_RETURN_IF_ERROR(CheckRecord(record));
      TakeRecord(record, out);
      return absl::OkStatus();
    }
    case sinks::v1::StoredRecord::kError:
      if (proto.error().sample_index() < 0) {
        return BadStored(absl::StrCat("error.sample_index of a stored record is ",
                                      proto.error().sample_index(), ", and it is from 0 on"),
                         proto, "give the sample's place in its stream");
      }
      if (FromRpcStatus(proto.error().status()).ok()) {
        return BadStored("error.status of a stored record is none of an error", proto,
                         "give the code of an error, or the sample's record");
      }
      out.failed = true;
      out.sample_index = proto.error().sample_index();
      out.payload = proto.error().SerializeAsString();
      return absl::OkStatus();
    case sinks::v1::StoredRecord::OUTCOME_NOT_SET:
      break;
  }
  return BadStored("a stored record has neither a record nor an error", proto,
                   "set one of record, error");
}

}  // namespace

std::string DigestOfTokens(const EncodedSample& sample) {
  std::string bytes;
  bytes.reserve(8 * (sample.ids.size() + 5));
  AppendNumber(sample.prompt_tokens, bytes);
  AppendNumber(sample.response_tokens, bytes);
  AppendNumber(sample.chat_rendered ? 1 : 0, bytes);
  AppendNumber(sample.token_spans_boundary ? 1 : 0, bytes);
  for (const int32_t id : sample.ids) AppendNumber(id, bytes);
  return Sha256Bytes(bytes);
}

std::string KeyOfDigest(std::string_view digest) {
  return absl::StrCat("sha256:", Hex(digest));
}

std::string KeyOfId(std::string_view sample_id) {
  if (sample_id.empty() || CheckSampleKey(sample_id).ok()) return std::string(sample_id);
  return KeyOfDigest(Sha256Bytes(sample_id));
}

SinkCounts CountSinks(const v1::SampleRecord& record) {
  SinkCounts counts;
  for (const v1::Sink& sink : record.sinks()) {
    if (sink.kind() == v1::SINK_KIND_PRIMARY) ++counts.primary;
    if (sink.kind() == v1::SINK_KIND_SECONDARY) ++counts.secondary;
    if (sink.kind() == v1::SINK_KIND_NOISE) ++counts.noise;
  }
  return counts;
}

Record KeepRecord(std::string key, std::string input_digest, const v1::SampleRecord& record,
                  const EncodedSample* sample) {
  Record out;
  out.sample_key = std::move(key);
  TakeRecord(record, out);
  out.input_digest = std::move(input_digest);
  if (sample != nullptr) out.input = EncodeInput(*sample);
  return out;
}

Record KeepFailure(const std::string& sample_id, std::string input_digest, int64_t sample_index,
                   const absl::Status& status) {
  sinks::v1::SampleError error;
  error.set_sample_index(sample_index);
  error.set_sample_id(sample_id);
  *error.mutable_status() = ToRpcStatus(status);
  return {.sample_key = KeyOfId(sample_id),
          .sample_index = sample_index,
          .failed = true,
          .payload = error.SerializeAsString(),
          .input_digest = std::move(input_digest),
          .input = std::nullopt};
}

absl::StatusOr<sinks::v1::StoredRecord> EncodeStored(const Record& record) {
  sinks::v1::StoredRecord out;
  out.set_sequence(record.sequence);
  out.set_sample_key(record.sample_key);
  if (!record.input_digest.empty()) out.set_input_digest(record.input_digest);
  const bool read = record.failed ? out.mutable_error()->ParseFromString(record.payload)
                                  : out.mutable_record()->ParseFromString(record.payload);
  if (!read) return NoPayload(record);
  if (record.input && !out.mutable_token_ids()->ParseFromString(*record.input)) {
    return NoPayload(record);
  }
  return out;
}

absl::StatusOr<Record> DecodeStored(sinks::v1::StoredRecord&& proto) {
  Record out;
  out.sample_key = proto.sample_key();
  SINKD_RETURN_IF_ERROR(CheckSampleKey(out.sample_key));
  constexpr size_t kDigestBytes = 32;
  if (proto.has_input_digest() && proto.input_digest().size() != kDigestBytes) {
    return BadStored(absl::StrCat("the input_digest of a stored record has ",
                                  proto.input_digest().size(), " bytes, a SHA-256 has 32"),
                     proto, "leave input_digest out where it is not known");
  }
  out.input_digest = proto.input_digest();
  SINKD_RETURN_IF_ERROR(TakeOutcome(proto, out));
  if (!proto.has_token_ids()) return out;
  if (!out.failed && proto.token_ids().ids_size() != proto.record().positions()) {
    return BadStored("a stored record has another number of token ids than positions", proto,
                     "leave token_ids out, or give one id a position");
  }
  for (const int32_t id : proto.token_ids().ids()) {
    if (id >= 0) continue;
    return BadStored(
        absl::StrCat("token_ids of a stored record hold ", id, ", and a token id is from 0 on"),
        proto, "leave token_ids out, or give the sample's own");
  }
  out.input = proto.token_ids().SerializeAsString();
  return out;
}

absl::Status ParsePayload(const Record& stored, v1::SampleRecord& record) {
  return record.ParseFromString(stored.payload) ? absl::OkStatus() : NoPayload(stored);
}

absl::Status ReadPayload(const Record& stored, v1::SampleRecord& record) {
  SINKD_RETURN_IF_ERROR(ParsePayload(stored, record));
  return CheckRecord(record);
}

absl::StatusOr<sinks::v1::SampleError> ReadFailure(const Record& record) {
  sinks::v1::SampleError error;
  if (!error.ParseFromString(record.payload)) return NoPayload(record);
  return error;
}

}  // namespace sinkd
