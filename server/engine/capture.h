// Capture: values of sites at chosen positions, from a pass that goes only as far as they need.
//
// Thread-safety and errors: as Model::Run; INVALID_ARGUMENT for a block or position out of range,
// or a site that the model does not have (HasSite).
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include <absl/status/statusor.h>

#include "server/engine/matrix.h"
#include "server/engine/model.h"
#include "server/engine/site.h"

namespace sinkd {

struct CaptureRequest {
  Site site = Site::kResidPost;
  int64_t block = 0;
  std::vector<int64_t> positions;  // of the sample, in any order
};

// Whether block `block` has the site: a mixture of experts has no gate, up, act and product of a
// row, an ungated MLP no gate, parallel blocks no resid_mid.
bool HasSite(const DecoderSpec& spec, Site site, int64_t block);

// One matrix per request, its rows in the order of the request's positions.
absl::StatusOr<std::vector<Matrix>> Capture(const Model& model, const TokenIds& ids,
                                            std::span<const CaptureRequest> requests,
                                            std::stop_token stop);

// Rows of mlp_in [n, C] through the MLP of `block`: mlp_out [n, C].
absl::StatusOr<Matrix> RunMlpAlone(const Model& model, int64_t block, const Matrix& rows,
                                   std::stop_token stop);

}  // namespace sinkd
