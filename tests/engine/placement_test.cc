#include "server/engine/placement.h"

#include <gtest/gtest.h>

#include "server/base/status.h"

namespace sinkd {
namespace {

using Spans = std::vector<BlockSpan>;

TEST(Placement, TakesOneDeviceForAllBlocks) {
  EXPECT_EQ(*ParsePlacement("cuda:1", 12), (Spans{{"cuda:1", 0, 12}}));
}

TEST(Placement, TakesAMapOfBlocks) {
  const Spans spans = {{"cuda:0", 0, 5}, {"cuda:1", 5, 6}, {"cpu", 11, 1}};
  EXPECT_EQ(*ParsePlacement("cuda:0=0-4,cuda:1=5-10,cpu=11", 12), spans);
  EXPECT_EQ(PlacementText(spans), "cuda:0=0-4,cuda:1=5-10,cpu=11-11");
  EXPECT_EQ(*ParsePlacement(PlacementText(spans), 12), spans);
}

TEST(Placement, NamesItsDevicesInOrder) {
  EXPECT_EQ(DevicesOf("cuda:1"), std::vector<std::string>{"cuda:1"});
  EXPECT_EQ(DevicesOf("cuda:1=0-4,cuda:0=5-10,cpu=11-11"),
            (std::vector<std::string>{"cuda:1", "cuda:0", "cpu"}));
  EXPECT_EQ(HomeDevice("cuda:1=0-4,cuda:0=5-11"), "cuda:1");
}

TEST(Placement, RefusesMapsThatDoNotNameEveryBlockOnce) {
  for (const char* text :
       {"cpu=0-10", "cpu=0-12", "cpu=1-11", "cpu=0-5,cpu=7-11", "cpu=0-5,cpu=5-11", "cpu=0-5,",
        "=0-11", "cpu=", "cpu=a-b", "cpu=5-0", "cpu=-1-11", "cpu=0-99999999999999999999"}) {
    const auto spans = ParsePlacement(text, 12);
    ASSERT_FALSE(spans.ok()) << text;
    EXPECT_EQ(spans.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(GetErrorDetail(spans.status())->reason, "BAD_PLACEMENT") << text;
  }
}

TEST(Placement, SpreadsBlocksByRoom) {
  const std::vector<int64_t> blocks(12, 100);
  const DeviceRoom rooms[] = {{"cuda:0", 3000}, {"cuda:1", 1000}};
  EXPECT_EQ(SpreadBlocks(rooms, 0, blocks), (Spans{{"cuda:0", 0, 9}, {"cuda:1", 9, 3}}));
  // What lies around the blocks weighs more than two of them, on the first device.
  EXPECT_EQ(SpreadBlocks(rooms, 240, blocks), (Spans{{"cuda:0", 0, 8}, {"cuda:1", 8, 4}}));
}

TEST(Placement, LeavesOutDevicesWithoutRoom) {
  const std::vector<int64_t> blocks(4, 100);
  const DeviceRoom rooms[] = {{"cuda:0", 0}, {"cuda:1", 1000}, {"cuda:2", 0}};
  EXPECT_EQ(SpreadBlocks(rooms, 0, blocks), (Spans{{"cuda:1", 0, 4}}));
  const DeviceRoom unknown[] = {{"cpu", 0}};
  EXPECT_EQ(SpreadBlocks(unknown, 50, blocks), (Spans{{"cpu", 0, 4}}));
}

}  // namespace
}  // namespace sinkd
