#include "server/analysis/outlier_tokens.h"

#include <algorithm>

namespace sinkd {

std::optional<OutlierTokens> FindOutlierTokens(const Trace& trace,
                                               std::span<const int32_t> token_ids) {
  if (trace.outlier_ratio.empty()) return std::nullopt;
  OutlierTokens outliers;
  std::vector<OutlierToken>& tokens = outliers.largest;
  for (size_t t = 0; t < trace.outlier_ratio.size(); ++t) {
    if (trace.outlier_ratio[t] < kOutlierRatio) continue;
    tokens.push_back({.position = static_cast<int32_t>(t),
                      .token_id = token_ids[t],
                      .ratio = trace.outlier_ratio[t]});
  }
  outliers.count = static_cast<int64_t>(tokens.size());
  if (tokens.size() <= kMostOutliers) return outliers;
  std::stable_sort(tokens.begin(), tokens.end(),
                   [](const OutlierToken& a, const OutlierToken& b) { return a.ratio > b.ratio; });
  tokens.resize(kMostOutliers);
  std::sort(tokens.begin(), tokens.end(),
            [](const OutlierToken& a, const OutlierToken& b) { return a.position < b.position; });
  return outliers;
}

}  // namespace sinkd
