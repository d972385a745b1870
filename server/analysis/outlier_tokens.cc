#include "server/analysis/outlier_tokens.h"

#include <algorithm>
#include <vector>

namespace sinkd {

void FillOutlierTokens(const Trace& trace, std::span<const int32_t> token_ids,
                       v1::SampleRecord& record) {
  if (trace.outlier_ratio.empty()) return;
  std::vector<size_t> found;  // positions
  for (size_t t = 0; t < trace.outlier_ratio.size(); ++t) {
    if (trace.outlier_ratio[t] >= kOutlierRatio) found.push_back(t);
  }
  v1::OutlierTokens& outliers = *record.mutable_outliers();
  outliers.set_count(static_cast<int64_t>(found.size()));
  if (found.size() > kMostOutliers) {
    std::stable_sort(found.begin(), found.end(), [&](size_t a, size_t b) {
      return trace.outlier_ratio[a] > trace.outlier_ratio[b];
    });
    found.resize(kMostOutliers);
    std::sort(found.begin(), found.end());
  }
  for (const size_t t : found) {
    v1::OutlierToken& token = *outliers.add_largest();
    token.set_position(static_cast<int32_t>(t));
    token.set_token_id(token_ids[t]);
    token.set_ratio(trace.outlier_ratio[t]);
  }
}

}  // namespace sinkd
