#include "client/cli/input/background_reader.h"

#include <utility>

namespace sinkd::cli {

BackgroundReader::BackgroundReader(SampleReader& reader)
    : reader_(reader), thread_([this] { Read(); }) {}

BackgroundReader::~BackgroundReader() {
  reader_.Stop();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BackgroundReader::Read() {
  while (true) {
    std::optional<InputItem> item = reader_.Next();
    std::unique_lock lock(mutex_);
    at_end_ = !item;
    item_ = std::move(item);
    changed_.notify_all();
    if (at_end_) return;
    changed_.wait(lock, [this] { return !item_ || stopping_; });
    if (stopping_) return;
  }
}

std::optional<InputItem> BackgroundReader::Next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return item_ || at_end_ || released_; });
  if (released_) return std::nullopt;
  std::optional<InputItem> item = std::exchange(item_, std::nullopt);
  changed_.notify_all();
  return item;
}

void BackgroundReader::Release() {
  const std::lock_guard lock(mutex_);
  released_ = true;
  changed_.notify_all();
}

void BackgroundReader::Rearm() {
  const std::lock_guard lock(mutex_);
  released_ = false;
}

}  // namespace sinkd::cli
