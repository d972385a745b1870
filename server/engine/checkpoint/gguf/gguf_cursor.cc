#include "server/engine/checkpoint/gguf/gguf_cursor.h"

#include <algorithm>

#include "server/base/str_cat.h"
#include "server/base/utf8.h"

namespace sinkd {
namespace {

// The largest vocabularies take about 20 MB.
constexpr int64_t kMaxHeaderBytes = int64_t{64} << 20;
constexpr int64_t kBufferBytes = int64_t{1} << 20;

}  // namespace

absl::Status GgufCursor::Error(std::string_view what, std::string_view reason,
                               std::string_view fix) const {
  const std::string where = StrCat(file_.name(), ": ", Shorten(field_));
  return FailedPrecondition(
      StrCat(where, ": ", what),
      {.reason = std::string(reason), .subject = where, .fix = std::string(fix)});
}

absl::Status GgufCursor::Take(int64_t bytes, void* out) {
  if (bytes > file_.bytes() - position_) {
    return Error(StrCat("the file ends at byte ", file_.bytes(), ": it is truncated"));
  }
  if (bytes > kMaxHeaderBytes - position_) return Error("the header is larger than 64 MiB");
  char* cursor = static_cast<char*>(out);
  while (bytes > 0) {
    const int64_t begin = position_ - buffer_begin_;
    const int64_t ready = std::min(bytes, static_cast<int64_t>(buffer_.size()) - begin);
    if (ready <= 0) {
      if (stop_.stop_requested()) return Cancelled("the reading of the header was cancelled");
      buffer_begin_ = position_;
      buffer_.resize(static_cast<size_t>(std::min(kBufferBytes, file_.bytes() - position_)));
      SINKD_RETURN_IF_ERROR(
          file_.Read(position_, static_cast<int64_t>(buffer_.size()), buffer_.data()));
      continue;
    }
    std::memcpy(cursor, buffer_.data() + begin, static_cast<size_t>(ready));
    cursor += ready;
    position_ += ready;
    bytes -= ready;
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> GgufCursor::Count(int64_t item_bytes, std::string_view items,
                                          int64_t maximum) {
  SINKD_ASSIGN_OR_RETURN(const auto count, Number<uint64_t>());
  // Memory is asked for by this count.
  const int64_t room = (std::min(file_.bytes(), kMaxHeaderBytes) - position_) / item_bytes;
  if (count > static_cast<uint64_t>(room)) {
    return Error(StrCat("announces ", count, " ", items, ", but there is room for ", room));
  }
  if (count > static_cast<uint64_t>(maximum)) {
    return Error(StrCat("announces ", count, " ", items, ", over the limit of ", maximum));
  }
  return static_cast<int64_t>(count);
}

absl::StatusOr<std::string> GgufCursor::Text(int64_t max_bytes) {
  SINKD_ASSIGN_OR_RETURN(const int64_t bytes, Count(1, "bytes of text", max_bytes));
  std::string text(static_cast<size_t>(bytes), '\0');
  SINKD_RETURN_IF_ERROR(Take(bytes, text.data()));
  if (FirstInvalidUtf8(text)) return Error("holds text that is not UTF-8");
  return text;
}

}  // namespace sinkd
