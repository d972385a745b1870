#include "client/cli/input/line_reader.h"

#include <cctype>

namespace sinkd::cli {
namespace {

constexpr size_t kPieceBytes = 64 << 10;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

absl::StatusOr<bool> LineReader::Fill() {
  if (at_end_) return false;
  if (begin_ > 0) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  const size_t before = buffer_.size();
  buffer_.resize(before + kPieceBytes);
  absl::StatusOr<size_t> count = stream_.Read(buffer_.data() + before, kPieceBytes);
  buffer_.resize(before + count.value_or(0));
  if (!count.ok()) return count.status();
  at_end_ = *count == 0;
  return !at_end_;
}

void LineReader::DropByteOrderMark() {
  if (!std::exchange(at_front_, false)) return;
  if (!std::string_view(buffer_).substr(begin_).starts_with(kByteOrderMark)) return;
  begin_ += kByteOrderMark.size();
  consumed_ += static_cast<int64_t>(kByteOrderMark.size());
}

// Gives out `length` bytes and skips `end_length` more.
Line LineReader::Take(size_t length, size_t end_length) {
  Line line;
  line.text = std::string_view(buffer_).substr(begin_, length);
  if (line.text.ends_with('\r')) line.text.remove_suffix(1);
  begin_ += length + end_length;
  consumed_ += static_cast<int64_t>(length + end_length);
  line.number = ++number_;
  line.end_offset = consumed_;
  return line;
}

absl::StatusOr<std::optional<Line>> LineReader::Next() {
  // A byte order mark must be whole before it can be told.
  while (at_front_ && buffer_.size() < kByteOrderMark.size()) {
    const absl::StatusOr<bool> more = Fill();
    if (!more.ok()) return more.status();
    if (!*more) break;
  }
  DropByteOrderMark();
  bool too_long = false;
  size_t searched = 0;
  while (true) {
    const size_t end = buffer_.find('\n', begin_ + searched);
    const bool found = end != std::string::npos;
    const size_t length = (found ? end : buffer_.size()) - begin_;
    too_long = too_long || length > max_line_bytes_;
    if (found || at_end_) {
      if (!found && length == 0 && !too_long) return std::nullopt;
      Line line = Take(length, found ? 1 : 0);
      line.too_long = too_long;
      if (too_long) line.text = {};
      return line;
    }
    searched = length;
    if (too_long) {
      consumed_ += static_cast<int64_t>(length);
      begin_ = buffer_.size();
      searched = 0;
    }
    const absl::StatusOr<bool> more = Fill();
    if (!more.ok()) return more.status();
  }
}

absl::StatusOr<std::optional<char>> LineReader::PeekFirst() {
  if (buffer_.empty()) {
    const absl::StatusOr<bool> more = Fill();
    if (!more.ok()) return more.status();
  }
  std::string_view front = buffer_;
  if (front.starts_with(kByteOrderMark)) front.remove_prefix(kByteOrderMark.size());
  for (const char c : front) {
    if (std::isspace(static_cast<unsigned char>(c)) == 0) return c;
  }
  return std::nullopt;
}

absl::StatusOr<std::optional<std::string>> LineReader::ReadAll(size_t limit) {
  while (buffer_.size() - begin_ <= limit + kByteOrderMark.size()) {
    const absl::StatusOr<bool> more = Fill();
    if (!more.ok()) return more.status();
    if (!*more) break;
  }
  DropByteOrderMark();
  std::string text = buffer_.substr(begin_);
  if (text.size() > limit) return std::nullopt;
  return text;
}

}  // namespace sinkd::cli
