// FrameReader: splits a stream of bytes into HTTP/2 frames (RFC 9113, section 4.1), whatever pieces
// it arrives in.
//
// Ownership: returned payloads point into the bytes given. Thread-safety: none. Errors: none; any
// bytes can be read as frames.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sinkd {

enum class FrameType : uint8_t {
  kData = 0,
  kHeaders = 1,
  kPriority = 2,
  kRstStream = 3,
  kSettings = 4,
  kPushPromise = 5,
  kPing = 6,
  kGoaway = 7,
  kWindowUpdate = 8,
  kContinuation = 9,
};

struct FrameHeader {
  uint32_t length = 0;  // of the payload
  FrameType type = FrameType::kData;
  uint8_t flags = 0;
  uint32_t stream = 0;

  bool ends_stream() const { return (flags & 0x1) != 0; }   // of kData and kHeaders
  bool ends_headers() const { return (flags & 0x4) != 0; }  // of kHeaders and kContinuation
};

class FrameReader {
 public:
  struct Piece {
    FrameHeader frame;
    bool begins = false;       // the frame's header is now complete
    std::string_view payload;  // else: the next part of its payload
  };

  // Removes the next piece from `bytes`; nullopt when nothing is left.
  std::optional<Piece> Next(std::string_view& bytes);

  // Whether all that was read ends at the end of a frame.
  bool between_frames() const { return left_ == 0 && header_size_ == 0; }

 private:
  static constexpr size_t kHeaderSize = 9;

  FrameHeader frame_;
  uint32_t left_ = 0;  // of its payload
  std::array<uint8_t, kHeaderSize> header_{};
  size_t header_size_ = 0;
};

}  // namespace sinkd
