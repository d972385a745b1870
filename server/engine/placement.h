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

// The text of LoadOptions::device for a model of `blocks` blocks: one device for all, or a map
// "cuda:0=0-15,cuda:1=16-31" whose ranges name every block once, in order. The devices are not
// tried. Errors: INVALID_ARGUMENT naming the part that is wrong.
absl::StatusOr<std::vector<BlockSpan>> ParsePlacement(std::string_view text, int64_t blocks);

// The text that ParsePlacement reads.
std::string PlacementText(std::span<const BlockSpan> spans);

// The devices of that text, in its order.
std::vector<std::string> DevicesOf(std::string_view placement);
// The one that holds the embedding: the first.
std::string HomeDevice(std::string_view placement);

struct DeviceRoom {
  std::string device;
  int64_t free_bytes = 0;
};

// Spreads blocks over `devices` (not empty) in order, in proportion to their room; the first also
// holds `outer_bytes`. A device that gets no block is left out.
std::vector<BlockSpan> SpreadBlocks(std::span<const DeviceRoom> devices, int64_t outer_bytes,
                                    std::span<const int64_t> block_bytes);

}  // namespace sinkd
