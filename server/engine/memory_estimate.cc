#include "server/engine/memory_estimate.h"

#include <algorithm>
#include <numeric>

#include "server/engine/model.h"
#include "server/engine/piece_sizes.h"

namespace sinkd {
namespace {

constexpr int64_t kFloat = 4;

}  // namespace

int64_t ForwardBytes(const DecoderSpec& spec, std::string_view compute_type,
                     std::string_view device, std::span<const int64_t> lengths) {
  if (lengths.empty()) return 0;
  const int64_t rows = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  const int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  const int64_t group = std::min(rows, std::max(kGroupRows, longest));
  const int64_t query_width = spec.heads * spec.head_size;
  const int64_t qkv_width = query_width + 2 * spec.kv_heads * spec.head_size;
  const int64_t strip = std::min(std::max(kStripElements, kMinQueries * spec.heads * longest),
                                 spec.heads * longest * longest);
  const int64_t joined = lengths.size() > 1 ? group * query_width : 0;
  const int64_t attention =
      group * qkv_width + longest * (2 * qkv_width + query_width) + joined + 2 * strip;
  int64_t units = spec.intermediate;
  if (spec.experts.count > 0) units = std::max(units, spec.experts.intermediate);
  const int64_t mlp = std::min(group, kMlpRows) * (spec.hidden + 4 * units);
  const int64_t trace = 2 * spec.blocks * rows * (5 + 2 * spec.heads);
  const int64_t bytes = kFloat * ((rows + 2 * group) * spec.hidden + attention + mlp + trace);
  if (!device.starts_with("cpu")) return bytes;
  const ProductMethods products = MeasureProducts();
  if (compute_type == "bfloat16" && products.bfloat16 == "bfloat16") return bytes;
  const int64_t wide =
      compute_type == "bfloat16" ? kFloat * spec.hidden * std::max(2 * units, qkv_width) : 0;
  return wide + (products.float32 == "oneDNN" ? bytes + bytes / 2 : bytes);
}

}  // namespace sinkd
