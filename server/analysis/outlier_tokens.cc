#include "server/analysis/outlier_tokens.h"

#include <algorithm>
#include <vector>

#include "server/analysis/record_part.h"
#include "server/base/status.h"

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

absl::Status CheckOutlierTokens(const v1::SampleRecord& record) {
  if (!record.has_outliers()) return absl::OkStatus();
  const v1::OutlierTokens& outliers = record.outliers();
  const RecordPart whole(record, "outliers");
  SINKD_RETURN_IF_ERROR(whole.Integer("count", outliers.count(), 0, record.positions()));
  const int64_t listed = std::min<int64_t>(outliers.count(), kMostOutliers);
  SINKD_RETURN_IF_ERROR(whole.Size("largest", outliers.largest_size(), listed, listed));
  int64_t least = 0;
  for (int i = 0; i < outliers.largest_size(); ++i) {
    const RecordPart part(record, "outliers.largest", i);
    const v1::OutlierToken& token = outliers.largest(i);
    SINKD_RETURN_IF_ERROR(
        part.Integer("position", token.position(), least, record.positions() - 1));
    SINKD_RETURN_IF_ERROR(part.Integer("token_id", token.token_id(), 0, RecordPart::kMostCount));
    SINKD_RETURN_IF_ERROR(part.Number("ratio", token.ratio(), kOutlierRatio, RecordPart::kAny));
    least = int64_t{token.position()} + 1;
  }
  return absl::OkStatus();
}

}  // namespace sinkd
