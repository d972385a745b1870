#include "server/engine/taps/sample_observer.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include "server/base/status.h"
#include "server/engine/forward/model_internals.h"
#include "server/engine/forward/torch_boundary.h"

namespace sinkd {

absl::Status ShowSample(const Model& model, const TokenIds& ids, SampleObserver& observer,
                        const std::stop_token& stop, std::optional<int64_t> end_block) {
  SINKD_RETURN_IF_ERROR(CheckSample(model.info().spec, 0, ids));
  return AtTorchBoundary([&]() -> absl::Status {
    const c10::InferenceMode inference;
    const Model::Internals& internals = model.internals();
    const PackedBatch batch = Pack({&ids, 1}, internals.outer.embedding.device());
    SINKD_RETURN_IF_ERROR(
        internals.decoder.Forward(batch, observer, stop, {.end_block = end_block, .edits = {}}));
    observer.Finish();
    return absl::OkStatus();
  });
}

}  // namespace sinkd
