// StateLock: exclusive use of a state folder by one server. Two servers that write to one SQLite
// file would each mistake the other's log for their own.
//
// The lock belongs to the system (flock on runs.lock) and ends with the process, however it ends;
// the content of the file identifies the holder.
// Thread-safety: none needed; made and destroyed once.
#pragma once

#include <filesystem>
#include <memory>

#include <absl/status/statusor.h>

namespace sinkd {

class StateLock {
 public:
  // Errors: FAILED_PRECONDITION STORE_IN_USE, naming the holder; STORE_UNUSABLE;
  // RESOURCE_EXHAUSTED STORE_FULL.
  static absl::StatusOr<std::unique_ptr<StateLock>> Take(const std::filesystem::path& folder);
  ~StateLock();
  StateLock(const StateLock&) = delete;
  StateLock& operator=(const StateLock&) = delete;

 private:
  explicit StateLock(int descriptor) : descriptor_(descriptor) {}
  void SignIn() const;

  const int descriptor_;
};

}  // namespace sinkd
