// BlockSource: the blocks of a decoder in order, from memory or disk. Internal to the engine.
//
// Thread-safety: Begin is const and may be called from several threads; a cursor belongs to one
// forward pass.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include <absl/status/statusor.h>

#include "server/engine/weights/weights.h"

namespace sinkd {

class BlockCursor {
 public:
  virtual ~BlockCursor() = default;

  // The next block; valid until the next call.
  virtual absl::StatusOr<const BlockWeights*> Next() = 0;
};

class BlockSource {
 public:
  virtual ~BlockSource() = default;

  // A cursor over blocks `first` to `end` - 1. Call its Next at most once per block.
  virtual std::unique_ptr<BlockCursor> Begin(int64_t first, int64_t end,
                                             std::stop_token stop) const = 0;
};

// All blocks in memory.
class ResidentBlocks final : public BlockSource {
 public:
  explicit ResidentBlocks(std::vector<BlockWeights> blocks) : blocks_(std::move(blocks)) {}

  const std::vector<BlockWeights>& blocks() const { return blocks_; }
  std::unique_ptr<BlockCursor> Begin(int64_t first, int64_t end,
                                     std::stop_token stop) const override;

 private:
  std::vector<BlockWeights> blocks_;
};

// Blocks read from a checkpoint during the pass, each while the previous one computes, so that at
// most two are in memory. Errors of Next: those of FileTensorLoader.
class StreamedBlocks final : public BlockSource {
 public:
  // `devices`: one per block. All files stay open.
  StreamedBlocks(Checkpoint checkpoint, DecoderPlan plan, at::ScalarType dtype,
                 std::vector<at::Device> devices);

  std::unique_ptr<BlockCursor> Begin(int64_t first, int64_t end,
                                     std::stop_token stop) const override;

 private:
  Checkpoint checkpoint_;
  DecoderPlan plan_;
  at::ScalarType dtype_;
  std::vector<at::Device> devices_;
};

}  // namespace sinkd
