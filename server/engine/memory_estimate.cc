#include "server/engine/memory_estimate.h"

#include <algorithm>

#include "server/engine/piece_sizes.h"

namespace sinkd {
namespace {

constexpr int64_t kFloat = 4;

}  // namespace

int64_t ActivationBytes(const DecoderSpec& spec, int64_t positions) {
  const int64_t query_width = spec.heads * spec.head_size;
  const int64_t qkv_width = query_width + 2 * spec.kv_heads * spec.head_size;
  const int64_t strip = std::min(std::max(kStripElements, kMinQueries * spec.heads * positions),
                                 spec.heads * positions * positions);
  const int64_t attention = positions * (3 * qkv_width + query_width) + 2 * strip;
  int64_t units = spec.intermediate;
  if (spec.experts.count > 0) units = std::max(units, spec.experts.intermediate);
  const int64_t mlp = std::min(positions, kMlpRows) * (spec.hidden + 4 * units);
  const int64_t trace = 2 * spec.blocks * positions * (5 + 2 * spec.heads);
  return kFloat * (3 * positions * spec.hidden + attention + mlp + trace);
}

}  // namespace sinkd
