#include "server/analysis/sink_rate.h"

#include <algorithm>
#include <iterator>
#include <span>

#include <absl/strings/str_cat.h>

#include "server/analysis/record_part.h"
#include "server/analysis/sink_scores.h"
#include "server/base/status.h"

namespace sinkd {
namespace {

int64_t CountHits(const v1::ScoreParameters& scores, double epsilon, const Trace& trace, bool cut,
                  int64_t k) {
  const int64_t length = cut ? trace.prefix : trace.positions;
  int64_t hits = 0;
  for (const int32_t l : trace.AttentionBlocks()) {
    for (int64_t h = 0; h < trace.heads; ++h) {
      const double sum = cut ? trace.PrefixAttentionSum(l, h, k) : trace.AttentionSum(l, h, k);
      const double self = scores.exclude_self() ? trace.AttentionSelf(l, h, k) : 0;
      if (AlphaFromSum(scores, length, k, sum, self) > epsilon) ++hits;
    }
  }
  return hits;
}

}  // namespace

v1::SinkRateCounts CountSinkRate(const v1::AnalysisSpec& spec, const Trace& trace) {
  const v1::SinkRateParameters& parameters = spec.sink_rate();
  const v1::ScoreParameters& scores = spec.scores();  // of none, the defaults
  const bool cut = parameters.first_tokens() > 0;
  v1::SinkRateCounts counts;
  const bool left_out = cut && trace.positions < parameters.first_tokens();
  const int64_t length = left_out ? 0 : cut ? trace.prefix : trace.positions;
  const int64_t cells = std::ssize(trace.AttentionBlocks()) * trace.heads;
  int64_t undefined = 0;
  for (int64_t k = 0; k < std::min<int64_t>(parameters.positions(), length); ++k) {
    const bool defined = HasAlpha(scores, length, k);
    counts.add_hits(defined ? CountHits(scores, parameters.epsilon(), trace, cut, k) : 0);
    if (!defined) ++undefined;
  }
  counts.set_left_out(left_out);
  counts.set_cells(left_out ? 0 : cells);
  counts.set_undefined(undefined);
  return counts;
}

void SinkRateAccumulator::Grow(size_t size) {
  if (size <= hits_.size()) return;
  hits_.resize(size, 0);
  cells_.resize(size, 0);
}

void SinkRateAccumulator::Add(const v1::SampleRecord& record) {
  if (!record.has_sink_rate()) return;
  const v1::SinkRateCounts& counts = record.sink_rate();
  if (counts.left_out()) {
    ++left_out_;
    return;
  }
  ++samples_;
  const std::span<const int64_t> hits = SpanOf(counts.hits());
  Grow(hits.size());
  // Only the last position can be without a value.
  const size_t defined =
      hits.size() - std::min(hits.size(), static_cast<size_t>(counts.undefined()));
  for (size_t k = 0; k < defined; ++k) {
    hits_[k] += hits[k];
    cells_[k] += counts.cells();
  }
}

void SinkRateAccumulator::MergeSame(const SinkRateAccumulator& other) {
  samples_ += other.samples_;
  left_out_ += other.left_out_;
  Grow(other.hits_.size());
  for (size_t k = 0; k < other.hits_.size(); ++k) {
    hits_[k] += other.hits_[k];
    cells_[k] += other.cells_[k];
  }
}

void SinkRateAccumulator::Report(v1::Summary& report) const {
  v1::SinkRateReport& rate = *report.mutable_sink_rate();
  rate.set_samples(samples_);
  rate.set_left_out(left_out_);
  for (size_t k = 0; k < hits_.size() && cells_[k] > 0; ++k) {
    rate.add_hits(hits_[k]);
    rate.add_cells(cells_[k]);
    rate.add_rates(static_cast<double>(hits_[k]) / static_cast<double>(cells_[k]));
  }
}

absl::Status CheckSinkRate(const v1::SampleRecord& record) {
  if (!record.has_sink_rate()) return absl::OkStatus();
  constexpr int64_t kMostPositions = 4096;
  const v1::SinkRateCounts& counts = record.sink_rate();
  const RecordPart part(record, "sink_rate");
  SINKD_RETURN_IF_ERROR(part.Integer("cells", counts.cells(), 0, RecordPart::kMostCount));
  SINKD_RETURN_IF_ERROR(part.Size("hits", counts.hits_size(), 0,
                                  std::min<int64_t>(kMostPositions, record.positions())));
  for (int i = 0; i < counts.hits_size(); ++i) {
    if (counts.hits(i) >= 0 && counts.hits(i) <= counts.cells()) continue;
    return part.Bad(absl::StrCat("hits[", i, "]"), absl::StrCat(counts.hits(i)),
                    absl::StrCat("it is from 0 to ", counts.cells()));
  }
  return part.Integer("undefined", counts.undefined(), 0, counts.hits_size());
}

}  // namespace sinkd
