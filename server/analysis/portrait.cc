#include "server/analysis/portrait.h"

#include <algorithm>

#include "server/analysis/record_part.h"
#include "server/base/status.h"

namespace sinkd {

v1::Portrait DrawPortrait(const Trace& trace) {
  v1::Portrait portrait;
  const int64_t columns = std::min(trace.positions, kPortraitColumns);
  portrait.set_columns(static_cast<int32_t>(columns));
  for (int64_t l = 0; l < trace.layers; ++l) {
    for (int64_t c = 0; c < columns; ++c) {
      const int64_t end = (c + 1) * trace.positions / columns;
      float largest = 0;
      for (int64_t t = c * trace.positions / columns; t < end; ++t) {
        largest = std::max(largest, trace.StateNorm(l, t));
      }
      portrait.add_state_norms(largest);
    }
  }
  return portrait;
}

absl::Status CheckPortrait(const v1::SampleRecord& record) {
  if (!record.has_portrait()) return absl::OkStatus();
  const v1::Portrait& portrait = record.portrait();
  const RecordPart part(record, "portrait");
  SINKD_RETURN_IF_ERROR(part.Integer("columns", portrait.columns(), 1,
                                     std::min<int64_t>(kPortraitColumns, record.positions())));
  if (!portrait.token_texts().empty()) {
    SINKD_RETURN_IF_ERROR(part.Size("token_texts", portrait.token_texts_size(), record.positions(),
                                    record.positions()));
  }
  const int64_t norms = int64_t{record.layers()} * portrait.columns();
  SINKD_RETURN_IF_ERROR(part.Size("state_norms", portrait.state_norms_size(), norms, norms));
  return part.Numbers("state_norms", portrait.state_norms(), 0, RecordPart::kAny);
}

}  // namespace sinkd
