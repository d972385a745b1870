#include "server/store/sqlite_files.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/store/sqlite_errors.h"
#include "server/store/store_errors.h"

namespace sinkd {
namespace {

constexpr char kCopyPrefix[] = "runs.copy-";
// Larger than the log, so that giving it up lets the whole log be brought into runs.db.
constexpr int64_t kReserveBytes = int64_t{2} << 20;
constexpr int64_t kLeastReserveBytes = int64_t{256} << 10;
constexpr int64_t kReserveShare = 8;  // of a small disk
// What a removal may make runs.db grow by before it shrinks.
constexpr int64_t kRemovalBytes = int64_t{256} << 10;
constexpr int64_t kMuch = int64_t{1} << 30;

struct Disk {
  int64_t bytes = std::numeric_limits<int64_t>::max();
  int64_t free = std::numeric_limits<int64_t>::max();
};

Disk DiskOf(const std::filesystem::path& folder) {
  struct statvfs status = {};
  if (statvfs(folder.c_str(), &status) != 0) return {};
  const auto unit = static_cast<int64_t>(status.f_frsize);
  return {.bytes = unit * static_cast<int64_t>(status.f_blocks),
          .free = unit * static_cast<int64_t>(status.f_bavail)};
}

int64_t MostBytesOfAFile() {
  rlimit limit = {};
  constexpr auto kNone = std::numeric_limits<int64_t>::max();
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0) return kNone;
  return static_cast<int64_t>(std::min<rlim_t>(limit.rlim_cur, kNone));
}

// Whether the file has these bytes on the disk, and no holes.
bool IsWhole(const std::filesystem::path& file, int64_t bytes) {
  constexpr int64_t kBytesPerBlock = 512;  // of st_blocks, whatever the file system's are
  struct stat status = {};
  return stat(file.c_str(), &status) == 0 && status.st_size == bytes &&
         status.st_blocks * kBytesPerBlock >= bytes;
}

}  // namespace

SqliteFiles::SqliteFiles(const std::filesystem::path& folder, std::unique_ptr<StateLock> lock)
    : lock_(std::move(lock)),
      folder_(folder),
      database_(folder / "runs.db"),
      log_(folder / "runs.db-wal"),
      reserve_(folder / "runs.reserve") {}

absl::Status SqliteFiles::Prepare() const {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, ignored)) {
    const std::filesystem::path file = entry.path();
    if (file.filename().string().starts_with(kCopyPrefix)) std::filesystem::remove(file, ignored);
  }
  // SQLite would make it readable by others; its log takes the rights of this file.
  const int made = open(database_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made < 0) return errno == EEXIST ? absl::OkStatus() : SqliteFileError(database_, errno);
  close(made);
  return absl::OkStatus();
}

int64_t SqliteFiles::SizeOnDisk() const {
  int64_t bytes = 0;
  for (const auto* file : {&database_, &log_}) {
    if (const std::optional<Identity> found = Identify(*file)) bytes += found->bytes;
  }
  return bytes;
}

std::filesystem::path SqliteFiles::NewCopy() {
  return folder_ / StrCat(kCopyPrefix, ++copies_);
}

std::optional<SqliteFiles::Identity> SqliteFiles::Identify(const std::filesystem::path& file) {
  struct stat status = {};
  if (stat(file.c_str(), &status) != 0) return std::nullopt;
  return Identity{.device = status.st_dev, .number = status.st_ino, .bytes = status.st_size};
}

void SqliteFiles::NoteState() {
  const std::lock_guard lock(mutex_);
  known_database_ = Identify(database_);
  known_log_ = Identify(log_);
}

void SqliteFiles::NoteGrowth() {
  const std::lock_guard lock(mutex_);
  const std::optional<Identity> database = Identify(database_);
  if (database && database->IsSameAs(known_database_)) known_database_ = database;
}

absl::Status SqliteFiles::CheckUnchanged() const {
  const std::lock_guard lock(mutex_);
  SINKD_RETURN_IF_ERROR(cut_);
  for (const auto& [file, known] :
       {std::pair(&database_, &known_database_), std::pair(&log_, &known_log_)}) {
    const std::optional<Identity> found = Identify(*file);
    if (!found) return StoreChanged(file->string(), "it was deleted");
    if (!found->IsSameAs(*known)) return StoreChanged(file->string(), "another is in its place");
  }
  return absl::OkStatus();
}

absl::Status SqliteFiles::CheckUncut(int64_t log_bytes) {
  const std::lock_guard lock(mutex_);
  const auto check = [this](const std::filesystem::path& file, const std::optional<Identity>& known,
                            int64_t bytes) {
    const std::optional<Identity> found = Identify(file);
    if (found && found->IsSameAs(known) && found->bytes < bytes) {
      cut_ = SqliteDamaged(file, "another program has cut it");
    }
  };
  check(database_, known_database_, known_database_ ? known_database_->bytes : 0);
  check(log_, known_log_, log_bytes);
  return cut_;
}

absl::Status SqliteFiles::CheckRights() const {
  struct stat status = {};
  // root may write to any file, so the permission bits count as well.
  constexpr mode_t kAnyoneMayWrite = S_IWUSR | S_IWGRP | S_IWOTH;
  const bool may_write = access(database_.c_str(), W_OK) == 0 &&
                         stat(database_.c_str(), &status) == 0 &&
                         (status.st_mode & kAnyoneMayWrite) != 0;
  return may_write ? absl::OkStatus() : StoreReadOnly(database_.string());
}

absl::StatusOr<int64_t> SqliteFiles::MostBytes(Room room) {
  const bool ordinary = room == Room::kOrdinary;
  if (ordinary && !KeepReserve()) return StoreFull("what is left is kept for removing runs");
  int64_t most = MostBytesOfAFile();
  const Disk disk = DiskOf(folder_);
  if (disk.free < kMuch) {
    // A page is written to the log first, and takes room there until it is brought into runs.db.
    const std::optional<Identity> database = Identify(database_);
    most = std::min(most, (database ? database->bytes : 0) + (disk.free + reserve_bytes_) / 2);
  }
  return ordinary ? most - kRemovalBytes : most;
}

bool SqliteFiles::KeepReserve() {
  if (reserve_bytes_ > 0) return true;
  const int64_t share = DiskOf(folder_).bytes / kReserveShare;
  const int64_t wanted =
      std::min(std::clamp(share, kLeastReserveBytes, kReserveBytes), MostBytesOfAFile());
  if (!IsWhole(reserve_, wanted)) {
    const int file = open(reserve_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) return false;
    const bool made = posix_fallocate(file, 0, wanted) == 0;
    if (!made) (void)!ftruncate(file, 0);
    close(file);
    if (!made) return false;
  }
  reserve_bytes_ = wanted;
  return true;
}

void SqliteFiles::GiveReserve() {
  reserve_bytes_ = 0;
  (void)!truncate(reserve_.c_str(), 0);
}

}  // namespace sinkd
