// Placement: which device holds which blocks.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

namespace sinkd {

struct BlockSpan {
  std::string device;
  int64_t first = 0;
  int64_t blocks = 0;
  bool operator==(const BlockSpan&) const = default;
};

// Parses LoadOptions::device for a model of `blocks` blocks: one device for all blocks, or a map
// "cuda:0=0-15,cuda:1=16-31" whose ranges cover every block once, in order. Does not check that the
// devices exist. Errors: INVALID_ARGUMENT, naming the part that is wrong.
absl::StatusOr<std::vector<BlockSpan>> ParsePlacement(std::string_view text, int64_t blocks);

// The inverse of ParsePlacement.
std::string PlacementText(std::span<const BlockSpan> spans);

// The devices in such a text, in its order.
std::vector<std::string> DevicesOf(std::string_view placement);
// The device that holds the embedding, which is the first.
std::string HomeDevice(std::string_view placement);

struct DeviceRoom {
  std::string device;
  int64_t free_bytes = 0;
};

// Spreads blocks over `devices` (not empty) in order, in proportion to their free memory. The first
// also holds `outer_bytes`. Devices that get no block are left out.
std::vector<BlockSpan> SpreadBlocks(std::span<const DeviceRoom> devices, int64_t outer_bytes,
                                    std::span<const int64_t> block_bytes);

}  // namespace sinkd
