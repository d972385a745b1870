#include "server/net/frame_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/net/h2_frame.h"

namespace sinkd {
namespace {

struct Read {
  FrameHeader frame;
  std::string payload;
};

// What is read of `bytes` in pieces of this size.
std::vector<Read> ReadAll(std::string_view bytes, size_t piece_size) {
  FrameReader reader;
  std::vector<Read> all;
  while (!bytes.empty()) {
    std::string_view piece = bytes.substr(0, piece_size);
    bytes.remove_prefix(piece.size());
    while (const auto part = reader.Next(piece)) {
      if (part->begins) all.push_back({part->frame, {}});
      all.back().payload += part->payload;
    }
  }
  EXPECT_TRUE(reader.between_frames());
  return all;
}

TEST(FrameReader, ReadsFramesHoweverTheyComeInPieces) {
  const std::string large(70000, 'x');
  const std::string bytes = H2Frame(FrameType::kSettings, 0, 0) +
                            H2Frame(FrameType::kHeaders, kEndHeaders, 1, "abc") +
                            H2Frame(FrameType::kData, kEndStream, 0x7ffffffd, large) +
                            H2Frame(static_cast<FrameType>(0xee), 0xff, 3, "z");
  for (const size_t piece_size : {1ul, 2ul, 7ul, 9ul, 10ul, 4096ul, bytes.size()}) {
    const std::vector<Read> read = ReadAll(bytes, piece_size);
    ASSERT_EQ(read.size(), 4u) << piece_size;
    EXPECT_EQ(read[0].frame.type, FrameType::kSettings);
    EXPECT_EQ(read[0].frame.length, 0u);
    EXPECT_EQ(read[1].payload, "abc");
    EXPECT_TRUE(read[1].frame.ends_headers());
    EXPECT_FALSE(read[1].frame.ends_stream());
    EXPECT_EQ(read[1].frame.stream, 1u);
    EXPECT_EQ(read[2].frame.length, 70000u);
    EXPECT_EQ(read[2].frame.stream, 0x7ffffffdu);
    EXPECT_TRUE(read[2].frame.ends_stream());
    EXPECT_EQ(read[2].payload, large);
    EXPECT_EQ(static_cast<int>(read[3].frame.type), 0xee);
    EXPECT_EQ(read[3].payload, "z");
  }
}

TEST(FrameReader, LeavesTheReservedBitOutOfTheStream) {
  const std::vector<Read> read = ReadAll(H2Frame(FrameType::kPing, 0, 0x80000005), 9);
  EXPECT_EQ(read.at(0).frame.stream, 5u);
}

TEST(FrameReader, IsNotBetweenFramesWithinAHeaderOrAPayload) {
  const std::string frame = H2Frame(FrameType::kPing, 0, 0, "12345678");
  for (size_t size = 1; size < frame.size(); ++size) {
    FrameReader reader;
    std::string_view piece = std::string_view(frame).substr(0, size);
    while (reader.Next(piece)) {
    }
    EXPECT_FALSE(reader.between_frames()) << size;
  }
}

}  // namespace
}  // namespace sinkd
