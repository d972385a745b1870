// BackupFile: the file that a copy of a server's store is written to. What stood there stays until
// all of the copy is on disk.
//
// Thread-safety: none; one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "sinks/v1/runs.pb.h"

namespace sinkd::cli {

class BackupFile {
 public:
  // INVALID_ARGUMENT when nothing can be written there; readable by this user alone.
  static absl::StatusOr<BackupFile> Open(const std::string& path);
  BackupFile(BackupFile&& other) noexcept;
  BackupFile& operator=(BackupFile&&) = delete;
  ~BackupFile();  // removes what is not finished

  absl::Status Add(const sinks::v1::BackUpStoreResponse& piece);
  // All has come, or DATA_LOSS.
  absl::Status Finish();
  int64_t bytes() const { return bytes_; }

 private:
  BackupFile(std::string path, int descriptor);
  absl::Status Error(const char* what) const;

  const std::string path_;
  const std::string part_;  // where it is written first
  int descriptor_ = -1;
  int64_t bytes_ = 0;
  int64_t total_bytes_ = 0;
};

}  // namespace sinkd::cli
