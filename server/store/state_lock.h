// StateLock: a state folder in the hands of one server. Two that wrote to one SQLite file would
// each take the other's log for its own.
//
// The lock is the system's (flock on runs.lock) and ends with the process, however that ends; what
// stands in the file tells who holds it.
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
