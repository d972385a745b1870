// SampleObserver: the tap of a study that looks at the rows of one sample, which come whole at each
// site but those of the MLP. Internal to the engine.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>

#include <absl/status/status.h>

#include "server/engine/model.h"
#include "server/engine/taps/taps.h"

namespace sinkd {

class SampleObserver : public TapObserver {
 public:
  bool Wants(Site site, int64_t /*block*/) const override { return site == Site::kResidPost; }

  // After the last block: what was kept goes to the host.
  virtual void Finish() {}
};

// Runs `ids` past `observer`, up to `end_block` or through all blocks, then finishes it. Errors as
// Model::Run.
absl::Status ShowSample(const Model& model, const TokenIds& ids, SampleObserver& observer,
                        const std::stop_token& stop, std::optional<int64_t> end_block = {});

}  // namespace sinkd
