// FileReload: a thread that reloads files when they change.
//
// Checks once a second which file each path leads to (device, inode, size, time of the last
// change), so it also notices renamed files and changed symbolic links.
//
// Ownership: borrows what the functions refer to; the destructor ends the thread.
// Thread-safety: Look and LookSoon may be called from any thread; the functions of an Item are
// called by one thread at a time.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <absl/status/statusor.h>

namespace sinkd {

class FileReload {
 public:
  struct Item {
    std::vector<std::filesystem::path> files;
    std::function<absl::StatusOr<bool>()> reload;  // true: the new content is in use
    std::function<void(const absl::StatusOr<bool>& outcome)> tell;
  };

  explicit FileReload(std::vector<Item> items);
  ~FileReload();
  FileReload(const FileReload&) = delete;
  FileReload& operator=(const FileReload&) = delete;

  enum class Which { kChanged, kAll };

  // Reloads the files that changed, or all of them, and returns when that is done.
  void Look(Which which);

  // Makes the thread reload all files. May be called from a thread that handles signals.
  void LookSoon();

 private:
  struct Stamp {
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = 0;
    int64_t seconds = 0, nanoseconds = 0;
    bool operator==(const Stamp&) const = default;
  };
  struct Watched {
    Item item;
    std::vector<Stamp> stamps;
  };

  static std::vector<Stamp> StampsOf(const Item& item);
  void Run();

  std::mutex look_mutex_;
  std::vector<Watched> watched_;  // guarded by look_mutex_

  std::mutex mutex_;
  std::condition_variable wake_;
  bool all_ = false;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace sinkd
