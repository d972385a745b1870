#include "server/access/file_reload.h"

#include <sys/stat.h>

#include <chrono>
#include <utility>

namespace sinkd {
namespace {

constexpr std::chrono::seconds kInterval{1};

}  // namespace

FileReload::FileReload(std::vector<Item> items) {
  for (Item& item : items) {
    // What was read before may be older than this; the first look finds out.
    watched_.push_back({.item = std::move(item), .stamps = {}});
  }
  thread_ = std::thread([this] { Run(); });
}

FileReload::~FileReload() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

std::vector<FileReload::Stamp> FileReload::StampsOf(const Item& item) {
  std::vector<Stamp> stamps;
  for (const std::filesystem::path& file : item.files) {
    struct stat status {};
    Stamp& stamp = stamps.emplace_back();
    if (stat(file.c_str(), &status) != 0) continue;
    stamp = {status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec,
             status.st_mtim.tv_nsec};
  }
  return stamps;
}

void FileReload::Look(Which which) {
  const std::lock_guard lock(look_mutex_);
  for (Watched& each : watched_) {
    // Taken before reading, so that a write in between is noticed next time.
    std::vector<Stamp> stamps = StampsOf(each.item);
    if (which == Which::kChanged && stamps == each.stamps) continue;
    each.stamps = std::move(stamps);
    each.item.tell(each.item.reload());
  }
}

void FileReload::LookSoon() {
  {
    const std::lock_guard lock(mutex_);
    all_ = true;
  }
  wake_.notify_all();
}

void FileReload::Run() {
  while (true) {
    Which which = Which::kChanged;
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, kInterval, [this] { return all_ || ending_; });
      if (ending_) return;
      if (std::exchange(all_, false)) which = Which::kAll;
    }
    Look(which);
  }
}

}  // namespace sinkd
