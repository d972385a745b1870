// Frames of HTTP/2 as bytes, for tests of what reads them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/net/frame_reader.h"

namespace sinkd {

inline constexpr std::string_view kH2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
inline constexpr uint8_t kEndStream = 0x1;
inline constexpr uint8_t kEndHeaders = 0x4;

inline std::string H2Frame(FrameType type, uint8_t flags, uint32_t stream,
                           std::string_view payload = {}) {
  const auto length = static_cast<uint32_t>(payload.size());
  std::string frame;
  for (const uint32_t byte : {length >> 16, length >> 8, length, static_cast<uint32_t>(type),
                              uint32_t{flags}, stream >> 24, stream >> 16, stream >> 8, stream}) {
    frame += static_cast<char>(byte & 0xff);
  }
  return frame.append(payload);
}

// A message of gRPC, its five bytes of prefix first.
inline std::string GrpcMessage(uint32_t length, std::string_view come) {
  std::string message(1, '\0');
  for (const uint32_t byte : {length >> 24, length >> 16, length >> 8, length}) {
    message += static_cast<char>(byte & 0xff);
  }
  return message.append(come);
}

}  // namespace sinkd
