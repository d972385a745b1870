#include "server/engine/families/range_checks.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

absl::Status CheckBlock(const DecoderSpec& spec, int64_t block) {
  if (block >= 0 && block < spec.blocks) return absl::OkStatus();
  return InvalidArgument(StrCat("the model has no such block; it has ", spec.blocks),
                         {.reason = "BLOCK_OUT_OF_RANGE",
                          .subject = "block",
                          .value = StrCat(block),
                          .fix = StrCat("choose one from 0 to ", spec.blocks - 1)});
}

absl::Status CheckPositions(std::span<const int64_t> positions, int64_t length) {
  for (const int64_t position : positions) {
    if (position >= 0 && position < length) continue;
    return InvalidArgument(StrCat("the sample has no such position; it has ", length, " tokens"),
                           {.reason = "POSITION_OUT_OF_RANGE",
                            .subject = "positions",
                            .value = StrCat(position),
                            .fix = StrCat("choose positions from 0 to ", length - 1)});
  }
  return absl::OkStatus();
}

}  // namespace sinkd
