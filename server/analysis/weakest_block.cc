#include "server/analysis/weakest_block.h"

namespace sinkd {

std::optional<int32_t> WeakestBlock(const v1::SampleRecord& record) {
  const google::protobuf::RepeatedField<float>& attention = record.compensation().primary();
  std::optional<int> weakest;
  for (int i = 0; i < attention.size(); ++i) {
    // Block l reads the state that block l - 1 writes, layer l - 1.
    const int32_t block = AttentionBlock(record, i);
    if (block <= record.window_start() || block > record.window_end()) continue;
    if (!weakest || attention[i] < attention[*weakest]) weakest = i;
  }
  if (!weakest) return std::nullopt;
  return AttentionBlock(record, *weakest);
}

}  // namespace sinkd
