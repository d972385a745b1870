// ByteStream: a file or standard input, read in pieces, with a way to wake a reader that waits.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

namespace sinkd::cli {

// Wakes every reader that waits on it, now and later.
// Thread-safety: Stop may be called from any thread, and from a signal handler.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  void Stop() noexcept;
  bool stopped() const;
  // Waits for it, for so long at most. Whether it is stopped.
  bool WaitFor(std::chrono::milliseconds time) const;
  // Readable once stopped; owned by this object.
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;  // an eventfd
};

// Thread-safety: none.
class ByteStream {
 public:
  // `path` "-" is standard input. `stop` is borrowed and must outlive the stream.
  // INVALID_ARGUMENT naming the file and the reason when it cannot be read.
  static absl::StatusOr<ByteStream> Open(const std::string& path, const StopSignal* stop);
  ByteStream(ByteStream&& other) noexcept;
  ByteStream& operator=(ByteStream&&) = delete;
  ~ByteStream();

  // Reads up to `size` bytes, waiting for the first. 0: the end, or stopped.
  absl::StatusOr<size_t> Read(char* data, size_t size);

 private:
  ByteStream(int descriptor, bool owned, std::string name, const StopSignal* stop)
      : descriptor_(descriptor), owned_(owned), name_(std::move(name)), stop_(stop) {}

  int descriptor_;
  bool owned_;
  std::string name_;
  const StopSignal* stop_;
};

// What the input is called in messages: the path, or "standard input".
std::string InputName(const std::string& path);

// OK when `path` can be opened and is no folder.
absl::Status CheckReadable(const std::string& path);

// The size of `path` in bytes when it is a regular file.
std::optional<int64_t> RegularFileSize(const std::string& path);

}  // namespace sinkd::cli
