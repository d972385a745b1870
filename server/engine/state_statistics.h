// Statistics of whole states, computed on the device so that no state leaves it.
//
// Thread-safety and errors: as Model::Run; also INVALID_ARGUMENT for a position or parameter out of
// range. The last state is taken before the final norm.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "server/engine/model.h"

namespace sinkd {

// Definitions: Norms. Keys and values as projected, before rotary and any norm.
struct RowNorms {
  int64_t layers = 0, positions = 0;
  std::vector<float> key, value, state;  // [L, T]; of keys and values NaN in blocks without them
};
absl::StatusOr<RowNorms> MeasureNorms(const Model& model, const TokenIds& ids,
                                      std::stop_token stop);

// Definitions: Massive activations (Sun et al. 2024, arXiv 2402.17762).
struct LargeEntry {
  int64_t position = 0;
  int64_t channel = 0;
  float value = 0;  // with its sign
};
struct BlockEntries {
  std::vector<LargeEntry> largest;  // by |value|, descending; ties by position, then channel
  float median = 0;                 // of |entry| over the block's states, as numpy's median
  float largest_of_rest = 0;        // |entry|, over the positions in `rest`; 0 if there are none
};
// One result per block, each with `top` >= 1 entries, or as many as the states have.
absl::StatusOr<std::vector<BlockEntries>> FindLargeEntries(const Model& model, const TokenIds& ids,
                                                           int64_t top,
                                                           std::span<const int64_t> rest,
                                                           std::stop_token stop);

// Definitions: Matrix entropy, of the states of one block at the positions of a window.
struct BlockEntropy {
  double entropy = 0;     // nats
  std::string undefined;  // "all states are zero", "no positions", "a state is not finite"; entropy
                          // is then 0
};
// One result per window (a list of positions) and block: [windows][L]. `alpha` > 0.
absl::StatusOr<std::vector<std::vector<BlockEntropy>>> MeasureEntropy(
    const Model& model, const TokenIds& ids, std::span<const std::vector<int64_t>> windows,
    double alpha, std::stop_token stop);

}  // namespace sinkd
