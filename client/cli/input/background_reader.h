// BackgroundReader: reads samples on a thread of its own, one ahead, so that whoever waits for the
// next one can be released without losing what is being read.
//
// Thread-safety: Next belongs to one thread at a time; Release may be called from any.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "client/cli/input/sample_reader.h"

namespace sinkd::cli {

class BackgroundReader {
 public:
  // `reader` is borrowed, and stopped by the destructor.
  explicit BackgroundReader(SampleReader& reader);
  ~BackgroundReader();
  BackgroundReader(const BackgroundReader&) = delete;
  BackgroundReader& operator=(const BackgroundReader&) = delete;

  // The next item; nullopt at the end, and once released.
  std::optional<InputItem> Next();
  void Release();
  void Rearm();  // ends the effect of Release

 private:
  void Read();

  SampleReader& reader_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<InputItem> item_;  // read and not yet taken
  bool at_end_ = false;
  bool released_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace sinkd::cli
