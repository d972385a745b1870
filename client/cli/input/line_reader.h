// LineReader: lines of a stream in flat memory, with a cap.
//
// Thread-safety: none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>

#include "client/cli/input/byte_stream.h"

namespace sinkd::cli {

// A line longer than this is skipped, in bytes. JSON may write a byte of text in six.
inline constexpr size_t kMaxLineBytes = size_t{24} << 20;

struct Line {
  std::string_view text;   // without its end (LF or CRLF); valid until the next call
  int64_t number = 0;      // from 1
  int64_t end_offset = 0;  // bytes of the stream up to and with its end
  bool too_long = false;   // over the cap: `text` is empty
};

class LineReader {
 public:
  explicit LineReader(ByteStream stream, size_t max_line_bytes = kMaxLineBytes)
      : stream_(std::move(stream)), max_line_bytes_(max_line_bytes) {}

  // The next line; nullopt at the end. A byte order mark at the front is left out. Errors are those
  // of ByteStream.
  absl::StatusOr<std::optional<Line>> Next();

  // The first byte that is no white space and no part of a byte order mark, as far as the first
  // piece of the stream shows one. Call it before Next.
  absl::StatusOr<std::optional<char>> PeekFirst();

  // Everything that is left, without the byte order mark; nullopt when it is longer than `limit`.
  absl::StatusOr<std::optional<std::string>> ReadAll(size_t limit);

 private:
  // Reads more into buffer_; false at the end.
  absl::StatusOr<bool> Fill();
  Line Take(size_t length, size_t end_length);
  void DropByteOrderMark();

  ByteStream stream_;
  size_t max_line_bytes_;
  std::string buffer_;
  size_t begin_ = 0;      // of the first byte in buffer_ not yet given out
  int64_t consumed_ = 0;  // bytes given out or skipped
  int64_t number_ = 0;
  bool at_front_ = true;
  bool at_end_ = false;
};

}  // namespace sinkd::cli
