// The store's errors, one function each, so that a reason has one code and one fix.
#pragma once

#include <string>
#include <string_view>

#include <absl/status/status.h>

namespace sinkd {

std::string RunSubject(std::string_view run_id);

absl::Status RunNotFound(std::string_view run_id);
absl::Status RunExists(std::string_view run_id);
absl::Status RunSpecDiffers(std::string_view run_id);
absl::Status RunComplete(std::string_view run_id);

// `cause` is the message of the database, which never contains a password.
absl::Status StoreFull(std::string_view cause);
bool IsStoreFull(const absl::Status& status);
absl::Status StoreBusy(std::string_view cause);
absl::Status StoreUnreachable(std::string_view cause);
absl::Status StoreIoError(std::string_view cause);
absl::Status StoreDamaged(std::string_view where, std::string_view cause, std::string_view fix);
// `holder` is the holder of the folder, as StateLock wrote it, or empty.
absl::Status StoreInUse(std::string_view folder, std::string_view holder);
// An open file was changed by another program.
absl::Status StoreChanged(std::string_view file, std::string_view what);
absl::Status StoreReadOnly(std::string_view file);
absl::Status StoreTooNew(int64_t version, int64_t known);
absl::Status StoreUnusable(std::string_view where, std::string_view cause, std::string_view fix);

}  // namespace sinkd
