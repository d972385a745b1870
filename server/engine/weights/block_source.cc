#include "server/engine/weights/block_source.h"

#include <functional>
#include <future>
#include <utility>

#include <c10/core/InferenceMode.h>

#include "server/base/status.h"
#include "server/engine/forward/torch_boundary.h"
#include "server/engine/weights/block_loader.h"
#include "server/engine/weights/file_tensor_loader.h"

namespace sinkd {
namespace {

class ResidentCursor final : public BlockCursor {
 public:
  explicit ResidentCursor(const BlockWeights* first) : next_(first) {}
  absl::StatusOr<const BlockWeights*> Next() override { return next_++; }

 private:
  const BlockWeights* next_;
};

class StreamedCursor final : public BlockCursor {
 public:
  using Read = std::function<absl::StatusOr<BlockWeights>(int64_t block)>;

  StreamedCursor(int64_t first, int64_t end, Read read)
      : end_(end), read_(std::move(read)), next_(first) {
    ReadAhead();
  }

  absl::StatusOr<const BlockWeights*> Next() override {
    SINKD_ASSIGN_OR_RETURN(current_, ahead_.get());
    ReadAhead();
    return &current_;
  }

 private:
  void ReadAhead() {
    if (next_ < end_) ahead_ = std::async(std::launch::async, read_, next_++);
  }

  const int64_t end_;
  const Read read_;
  int64_t next_;
  BlockWeights current_;
  std::future<absl::StatusOr<BlockWeights>> ahead_;  // its destructor waits for the read
};

}  // namespace

std::unique_ptr<BlockCursor> ResidentBlocks::Begin(int64_t first, int64_t, std::stop_token) const {
  return std::make_unique<ResidentCursor>(blocks_.data() + first);
}

StreamedBlocks::StreamedBlocks(Checkpoint checkpoint, DecoderPlan plan, at::ScalarType dtype,
                               std::vector<at::Device> devices)
    : checkpoint_(std::move(checkpoint)),
      plan_(std::move(plan)),
      dtype_(dtype),
      devices_(std::move(devices)) {}

std::unique_ptr<BlockCursor> StreamedBlocks::Begin(int64_t first, int64_t end,
                                                   std::stop_token stop) const {
  return std::make_unique<StreamedCursor>(
      first, end, [this, stop](int64_t block) -> absl::StatusOr<BlockWeights> {
        BlockWeights weights;
        SINKD_RETURN_IF_ERROR(AtTorchBoundary([&]() -> absl::Status {
          const c10::InferenceMode inference;
          FileTensorLoader loader(checkpoint_, dtype_, {}, stop);
          loader.LoadOnto(devices_[static_cast<size_t>(block)]);
          SINKD_ASSIGN_OR_RETURN(weights, LoadBlock(loader, plan_, block));
          return absl::OkStatus();
        }));
        return weights;
      });
}

}  // namespace sinkd
