// SqliteFiles: the files of one SQLite store: runs.db, its log, the lock of their folder, and
// runs.reserve, room that is kept for removing runs when the disk is full.
//
// No file of the database is opened here once SQLite has it open: closing any descriptor of a file
// drops all locks that the process holds on it (POSIX).
//
// Thread-safety: CheckUnchanged, SizeOnDisk and NewCopy may be called from any thread; everything
// else belongs to whoever writes to the store.
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
  // The lock is held for as long as there is a connection. Without one, the folder is the caller's
  // to watch over.
  SqliteFiles(const std::filesystem::path& folder, std::unique_ptr<StateLock> lock);

  // Makes runs.db, for this user alone, when there is none, and removes what a broken-off copy
  // left. Before SQLite opens it. Errors: STORE_UNUSABLE, STORE_FULL.
  absl::Status Prepare() const;

  const std::filesystem::path& database() const { return database_; }
  int64_t SizeOnDisk() const;
  // Where a copy may be written.
  std::filesystem::path NewCopy();

  // The files are those that SQLite has open.
  void NoteState();
  // SQLite has written to runs.db.
  void NoteGrowth();
  // FAILED_PRECONDITION STORE_CHANGED: a file is not the one that was opened any more.
  // STORE_DAMAGED once one was cut.
  absl::Status CheckUnchanged() const;
  // STORE_DAMAGED: a file has lost its end. `log_bytes`: what the log must hold.
  absl::Status CheckUncut(int64_t log_bytes);
  // STORE_CHANGED: runs.db is only to be read.
  absl::Status CheckRights() const;

  // How many bytes runs.db may have, so that what is written to the log can be brought into it.
  // Room::kOrdinary: STORE_FULL when there is none but what is kept for removals.
  absl::StatusOr<int64_t> MostBytes(Room room);
  // Gives the reserve up, until MostBytes can make it again.
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
  int64_t reserve_bytes_ = 0;  // 0: not made
  std::atomic<int> copies_ = 0;
  mutable std::mutex mutex_;
  std::optional<Identity> known_database_;
  std::optional<Identity> known_log_;
  absl::Status cut_;  // what is lost does not come back
};

}  // namespace sinkd
