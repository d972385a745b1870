// GgufCursor: reads a GGUF file's header field by field, never past its limits. Internal to the
// GGUF reader.
//
// Thread-safety: none.
// Errors: FAILED_PRECONDITION naming the file and the field being read; CANCELLED.
#pragma once

#include <cstdint>
#include <cstring>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <absl/status/statusor.h>

#include "server/base/status.h"
#include "server/engine/checkpoint/random_access_file.h"

namespace sinkd {

class GgufCursor {
 public:
  GgufCursor(const RandomAccessFile& file, std::stop_token stop)
      : file_(file), stop_(std::move(stop)) {}

  // What is read next, for messages: "key general.name".
  void SetField(std::string field) { field_ = std::move(field); }

  template <typename T>
  absl::StatusOr<T> Number() {
    static_assert(std::is_arithmetic_v<T>);
    T value;
    SINKD_RETURN_IF_ERROR(Take(sizeof(T), &value));
    return value;
  }

  // A 64-bit length, then that many bytes of UTF-8.
  absl::StatusOr<std::string> Text(int64_t max_bytes);

  // A 64-bit count of items of at least `item_bytes` each, which the file must have room for, up to
  // `maximum`.
  absl::StatusOr<int64_t> Count(int64_t item_bytes, std::string_view items, int64_t maximum);

  absl::Status Error(std::string_view what, std::string_view reason = "BAD_GGUF",
                     std::string_view fix = "fetch the file again") const;
  int64_t position() const { return position_; }

 private:
  absl::Status Take(int64_t bytes, void* out);

  const RandomAccessFile& file_;
  const std::stop_token stop_;
  std::string field_ = "header";
  int64_t position_ = 0;  // in the file, of the next byte
  std::vector<char> buffer_;
  int64_t buffer_begin_ = 0;  // in the file
};

}  // namespace sinkd
