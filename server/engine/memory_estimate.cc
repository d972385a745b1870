#include "server/engine/memory_estimate.h"

#include <algorithm>

namespace sinkd {
namespace {

constexpr int64_t kFloat = 4;
constexpr int64_t kPieceRows = 512;          // as block_pass.cc cuts the MLP
constexpr int64_t kStripElements = 1 << 20;  // as attention.cc cuts the queries
constexpr int64_t kMinQueries = 16;

}  // namespace

int64_t ActivationBytes(const DecoderSpec& spec, int64_t positions) {
  const int64_t query_width = spec.heads * spec.head_size;
  const int64_t qkv_width = query_width + 2 * spec.kv_heads * spec.head_size;
  const int64_t strip = std::min(std::max(kStripElements, kMinQueries * spec.heads * positions),
                                 spec.heads * positions * positions);
  const int64_t attention = positions * (3 * qkv_width + query_width) + 2 * strip;
  int64_t units = spec.intermediate;
  if (spec.experts.count > 0) units = std::max(units, spec.experts.intermediate);
  const int64_t mlp = std::min(positions, kPieceRows) * (spec.hidden + 4 * units);
  const int64_t trace = 2 * spec.blocks * positions * (5 + 2 * spec.heads);
  return kFloat * (3 * positions * spec.hidden + attention + mlp + trace);
}

}  // namespace sinkd
