#include "server/net/frame_reader.h"

#include <algorithm>

namespace sinkd {

std::optional<FrameReader::Piece> FrameReader::Next(std::string_view& bytes) {
  if (left_ > 0 && !bytes.empty()) {
    const std::string_view payload = bytes.substr(0, left_);
    left_ -= static_cast<uint32_t>(payload.size());
    bytes.remove_prefix(payload.size());
    return Piece{.frame = frame_, .begins = false, .payload = payload};
  }
  const size_t size = std::min(kHeaderSize - header_size_, bytes.size());
  std::copy_n(bytes.begin(), size, header_.begin() + header_size_);
  header_size_ += size;
  bytes.remove_prefix(size);
  if (header_size_ < kHeaderSize) return std::nullopt;
  header_size_ = 0;
  const auto& h = header_;
  frame_ = {.length = static_cast<uint32_t>(h[0] << 16 | h[1] << 8 | h[2]),
            .type = static_cast<FrameType>(h[3]),
            .flags = h[4],
            .stream = static_cast<uint32_t>((h[5] & 0x7f) << 24 | h[6] << 16 | h[7] << 8 | h[8])};
  left_ = frame_.length;
  return Piece{.frame = frame_, .begins = true, .payload = {}};
}

}  // namespace sinkd
