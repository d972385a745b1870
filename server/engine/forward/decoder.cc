#include "server/engine/forward/decoder.h"

#include "server/base/status.h"

namespace sinkd {

absl::Status Decoder::Forward(const PackedBatch& batch, TapObserver& observer,
                              const std::stop_token& stop, const ForwardOptions& options) const {
  DecoderPass pass(spec_, outer_, batch);
  return Continue(pass, 0, observer, stop, options);
}

absl::Status Decoder::Continue(DecoderPass& pass, int64_t first, TapObserver& observer,
                               const std::stop_token& stop, const ForwardOptions& options) const {
  const int64_t end = options.end_block.value_or(spec_.blocks);
  const std::unique_ptr<BlockCursor> cursor = blocks_.Begin(first, end, stop);
  for (int64_t l = first; l < end; ++l) {
    SINKD_ASSIGN_OR_RETURN(const BlockWeights* weights, cursor->Next());
    SINKD_RETURN_IF_ERROR(pass.RunBlock(*weights, l, options.edits, observer, stop));
  }
  if (end == spec_.blocks) pass.Finish(observer);
  return absl::OkStatus();
}

}  // namespace sinkd
