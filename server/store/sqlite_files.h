// SqliteFiles: the files of one SQLite store: runs.db, its log, the lock of their folder, and
// runs.reserve, disk space that allows runs to be removed when the disk is full.
//
// Never opens a file of the database while SQLite has it open: closing any descriptor of a file
// drops all locks that the process holds on it (POSIX).
//
// Thread-safety: CheckUnchanged, SizeOnDisk and NewCopy may be called from any thread, everything
// else only by the writer of the store.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>

#include <absl/status/status.h>

#include "server/store/connection.h"
#include "server/store/state_lock.h"

namespace sinkd {

class SqliteFiles {
 public:
  // The lock is held as long as there is a connection. Without a lock, the caller must protect the
  // folder.
  SqliteFiles(const std::filesystem::path& folder, std::unique_ptr<StateLock> lock);

  // Creates runs.db, for this user only, if it is missing, and removes the remains of an
  // interrupted copy. Call it before SQLite opens the file. Errors: STORE_UNUSABLE, STORE_FULL.
  absl::Status Prepare() const;

  const std::filesystem::path& database() const { return database_; }
  int64_t SizeOnDisk() const;
  // A path for a copy.
  std::filesystem::path NewCopy();

  // Call when SQLite has opened the files.
  void NoteState();
  // Call when SQLite has written to runs.db.
  void NoteGrowth();
  // FAILED_PRECONDITION STORE_CHANGED if a file is no longer the one that was opened.
  // STORE_DAMAGED once a file has been truncated.
  absl::Status CheckUnchanged() const;
  // STORE_DAMAGED if a file is truncated. `log_bytes`: the minimum size of the log.
  absl::Status CheckUncut(int64_t log_bytes);
  // STORE_CHANGED if runs.db is read-only.
  absl::Status CheckRights() const;

  // The maximum size of runs.db such that the log can be checkpointed into it.
  // Room::kOrdinary: STORE_FULL if only the reserve for removals is left.
  absl::StatusOr<int64_t> MostBytes(Room room);
  // Releases the reserve until MostBytes can recreate it.
  void GiveReserve();

 private:
  struct Identity {
    dev_t device = 0;
    ino_t number = 0;
    int64_t bytes = 0;

    bool IsSameAs(const std::optional<Identity>& known) const {
      return known && device == known->device && number == known->number;
    }
  };
  static std::optional<Identity> Identify(const std::filesystem::path& file);
  bool KeepReserve();

  const std::unique_ptr<StateLock> lock_;
  const std::filesystem::path folder_;
  const std::filesystem::path database_;
  const std::filesystem::path log_;
  const std::filesystem::path reserve_;
  int64_t reserve_bytes_ = 0;  // 0: no reserve
  std::atomic<int> copies_ = 0;
  mutable std::mutex mutex_;
  std::optional<Identity> known_database_;
  std::optional<Identity> known_log_;
  absl::Status cut_;  // permanent, since lost data does not come back
};

}  // namespace sinkd
