#include "server/analysis/sink_rate.h"

#include <algorithm>
#include <iterator>

#include "server/analysis/sink_scores.h"
#include "server/analysis/summary.h"

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

SinkRateCounts CountSinkRate(const v1::AnalysisSpec& spec, const Trace& trace) {
  const v1::SinkRateParameters& parameters = spec.sink_rate();
  const v1::ScoreParameters scores = ScoresOf(spec);
  const bool cut = parameters.first_tokens() > 0;
  SinkRateCounts counts;
  if (cut && trace.positions < parameters.first_tokens()) {
    counts.left_out = true;
    return counts;
  }
  const int64_t length = cut ? trace.prefix : trace.positions;
  counts.cells = std::ssize(trace.AttentionBlocks()) * trace.heads;
  for (int64_t k = 0; k < std::min<int64_t>(parameters.positions(), length); ++k) {
    const bool defined = HasAlpha(scores, length, k);
    counts.hits.push_back(defined ? CountHits(scores, parameters.epsilon(), trace, cut, k) : 0);
    if (!defined) ++counts.undefined;
  }
  return counts;
}

void SinkRateAccumulator::Grow(size_t size) {
  if (size <= hits_.size()) return;
  hits_.resize(size, 0);
  cells_.resize(size, 0);
}

void SinkRateAccumulator::Add(const SampleRecord& record) {
  if (!record.sink_rate) return;
  const SinkRateCounts& counts = *record.sink_rate;
  if (counts.left_out) {
    ++left_out_;
    return;
  }
  ++samples_;
  Grow(counts.hits.size());
  // Only the last position can be without a value.
  const size_t defined =
      counts.hits.size() - std::min(counts.hits.size(), static_cast<size_t>(counts.undefined));
  for (size_t k = 0; k < defined; ++k) {
    hits_[k] += counts.hits[k];
    cells_[k] += counts.cells;
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

void SinkRateAccumulator::Report(SummaryReport& report) const {
  SinkRateReport& rate = report.sink_rate.emplace();
  rate.samples = samples_;
  rate.left_out = left_out_;
  for (size_t k = 0; k < hits_.size() && cells_[k] > 0; ++k) {
    rate.hits.push_back(hits_[k]);
    rate.cells.push_back(cells_[k]);
    rate.rates.push_back(static_cast<double>(hits_[k]) / static_cast<double>(cells_[k]));
  }
}

}  // namespace sinkd
