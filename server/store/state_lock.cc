#include "server/store/state_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/store/sqlite_errors.h"
#include "server/store/store_errors.h"

namespace sinkd {
namespace {

// "process 12 on host-a since 2026-12-01T10:00:00Z"; empty when the file holds nothing.
std::string ReadHolder(int descriptor) {
  std::array<char, 512> text = {};
  const ssize_t size = pread(descriptor, text.data(), text.size(), 0);
  const std::string_view all(text.data(), size > 0 ? static_cast<size_t>(size) : 0);
  return Shorten(all.substr(0, all.find('\n')), 400);
}

std::string DescribeSelf() {
  std::array<char, 256> host = {};
  gethostname(host.data(), host.size() - 1);
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  std::array<char, 32> since = {};
  std::strftime(since.data(), since.size(), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  return StrCat("process ", getpid(), " on ", host.data(), " since ", since.data(), "\n");
}

}  // namespace

absl::StatusOr<std::unique_ptr<StateLock>> StateLock::Take(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "runs.lock";
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) return SqliteFileError(file, errno);
  std::unique_ptr<StateLock> lock(new StateLock(descriptor));
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return StoreInUse(folder.string(), ReadHolder(descriptor));
    return SqliteFileError(file, errno);
  }
  lock->SignIn();
  return lock;
}

StateLock::~StateLock() {
  close(descriptor_);
}

// Written over what stood there, so that it needs no room on a full disk. It informs: the lock
// holds without it.
void StateLock::SignIn() const {
  const std::string self = DescribeSelf();
  if (pwrite(descriptor_, self.data(), self.size(), 0) < 0) return;
  (void)!ftruncate(descriptor_, static_cast<off_t>(self.size()));
}

}  // namespace sinkd
