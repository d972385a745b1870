// Checks of what callers pass to the store; errors name the field and the limit.
#pragma once

#include <cstdint>
#include <string_view>

#include <absl/status/status.h>

#include "server/store/run_store.h"

namespace sinkd {

// ^[a-z0-9][a-z0-9._-]{0,63}$
bool IsRunId(std::string_view id);

// Errors: INVALID_ARGUMENT RUN_ID_INVALID.
absl::Status CheckRunId(std::string_view id);
// Errors: INVALID_ARGUMENT RUN_ID_INVALID, TEXT_INVALID, TOO_MANY_LABELS, RECORD_TOO_LARGE.
absl::Status CheckNewRun(const NewRun& run);
absl::Status CheckLabels(const Labels& labels);
absl::Status CheckRecord(const Record& record);
absl::Status CheckStudy(const StoredStudy& study);
absl::Status CheckSampleKey(std::string_view key);
// 1 to `max_bytes` bytes of UTF-8 without NUL; from 0 bytes if `may_be_empty`.
absl::Status CheckText(std::string_view field, std::string_view text, size_t max_bytes,
                       bool may_be_empty = false);
// Errors: INVALID_ARGUMENT OUT_OF_RANGE.
absl::Status CheckRange(std::string_view field, int64_t value, int64_t least, int64_t most);

// Size of key, payload and input.
int64_t RecordBytes(const Record& record);

}  // namespace sinkd
