// Capture: values of sites at chosen positions, from a forward pass that stops after the last block
// it needs.
// Thread-safety and errors: as Model::Run; also INVALID_ARGUMENT for a block or position out of
// range, and for a site that the model does not have (HasSite).
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

// Whether block `block` has the site. A mixture of experts has no gate, up, act and product for a
// row, an ungated MLP has no gate, and parallel blocks have no resid_mid.
bool HasSite(const DecoderSpec& spec, Site site, int64_t block);

// Returns one matrix per request, with rows in the order of the request's positions.
absl::StatusOr<std::vector<Matrix>> Capture(const Model& model, const TokenIds& ids,
                                            std::span<const CaptureRequest> requests,
                                            std::stop_token stop);

// Passes rows of mlp_in [n, C] through the MLP of `block` and returns mlp_out [n, C].
absl::StatusOr<Matrix> RunMlpAlone(const Model& model, int64_t block, const Matrix& rows,
                                   std::stop_token stop);

}  // namespace sinkd
