#include "server/store/run_rules.h"

#include <algorithm>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/base/utf8.h"

namespace sinkd {
namespace {

constexpr size_t kMaxIdBytes = 64;
constexpr size_t kMaxLabels = 64;
constexpr size_t kMaxLabelNameBytes = 63;
constexpr size_t kMaxTextBytes = 255;

bool IsIdStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
bool IsIdPart(char c) {
  return IsIdStart(c) || c == '.' || c == '_' || c == '-';
}

absl::Status CheckSize(std::string_view field, int64_t bytes) {
  if (bytes <= kMaxRecordBytes) return absl::OkStatus();
  return InvalidArgument(StrCat(field, " is larger than ", kMaxRecordBytes, " bytes"),
                         {.reason = "RECORD_TOO_LARGE",
                          .subject = std::string(field),
                          .value = StrCat(bytes, " bytes"),
                          .fix = "leave out what is not needed, such as curves of every sink"});
}

}  // namespace

bool IsRunId(std::string_view id) {
  return !id.empty() && id.size() <= kMaxIdBytes && IsIdStart(id.front()) &&
         std::all_of(id.begin(), id.end(), IsIdPart);
}

absl::Status CheckRunId(std::string_view id) {
  if (IsRunId(id)) return absl::OkStatus();
  return InvalidArgument(
      "a run id is 1 to 64 lower-case letters, digits, '.', '_' or '-', the first one a letter or "
      "digit",
      {.reason = "RUN_ID_INVALID",
       .subject = "run_id",
       .value = id.empty() ? "an empty id" : std::string(id),
       .fix = "choose another id"});
}

absl::Status CheckNewRun(const NewRun& run) {
  SINKD_RETURN_IF_ERROR(CheckRunId(run.id));
  SINKD_RETURN_IF_ERROR(CheckText("model_id", run.model_id, kMaxTextBytes));
  SINKD_RETURN_IF_ERROR(CheckLabels(run.labels));
  return CheckSize("spec", static_cast<int64_t>(run.spec.size()));
}

absl::Status CheckLabels(const Labels& labels) {
  if (labels.size() > kMaxLabels) {
    return InvalidArgument(StrCat("there are more than ", kMaxLabels, " labels"),
                           {.reason = "TOO_MANY_LABELS",
                            .subject = "labels",
                            .value = StrCat(labels.size()),
                            .fix = "leave some out"});
  }
  for (const auto& [name, value] : labels) {
    SINKD_RETURN_IF_ERROR(CheckText("labels", name, kMaxLabelNameBytes));
    SINKD_RETURN_IF_ERROR(
        CheckText(StrCat("labels.", name), value, kMaxTextBytes, /*may_be_empty=*/true));
  }
  return absl::OkStatus();
}

absl::Status CheckRecord(const Record& record) {
  SINKD_RETURN_IF_ERROR(CheckSampleKey(record.sample_key));
  SINKD_RETURN_IF_ERROR(CheckRange("input_digest", static_cast<int64_t>(record.input_digest.size()),
                                   0, int64_t{kMaxTextBytes}));
  return CheckSize("record", RecordBytes(record));
}

absl::Status CheckStudy(const StoredStudy& study) {
  return CheckSize("study", static_cast<int64_t>(study.request.size() + study.report.size()));
}

absl::Status CheckSampleKey(std::string_view key) {
  return CheckText("sample_key", key, kMaxTextBytes);
}

absl::Status CheckText(std::string_view field, std::string_view text, size_t max_bytes,
                       bool may_be_empty) {
  const bool sized = text.size() <= max_bytes && (may_be_empty || !text.empty());
  if (sized && text.find('\0') == std::string_view::npos && !FirstInvalidUtf8(text)) {
    return absl::OkStatus();
  }
  return InvalidArgument(StrCat(field, " must be ", may_be_empty ? 0 : 1, " to ", max_bytes,
                                " bytes of UTF-8 without NUL"),
                         {.reason = "TEXT_INVALID",
                          .subject = std::string(field),
                          .value = StrCat(text.size(), " bytes"),
                          .fix = "shorten it, or write it in other characters"});
}

absl::Status CheckRange(std::string_view field, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return InvalidArgument(StrCat(field, " must be from ", least, " to ", most),
                         {.reason = "OUT_OF_RANGE",
                          .subject = std::string(field),
                          .value = StrCat(value),
                          .fix = "choose a value in this range"});
}

int64_t RecordBytes(const Record& record) {
  const size_t input = record.input ? record.input->size() : 0;
  return static_cast<int64_t>(record.sample_key.size() + record.payload.size() + input);
}

}  // namespace sinkd
