#include "server/analysis/sink_scores.h"

#include <algorithm>
#include <set>

namespace sinkd {

bool HasAlpha(const v1::ScoreParameters& parameters, int64_t positions, int64_t k) {
  return !parameters.exclude_self() || k + 1 < positions;
}

double AlphaFromSum(const v1::ScoreParameters& parameters, int64_t positions, int64_t k, double sum,
                    double self) {
  const int64_t excluded = parameters.exclude_self() ? 1 : 0;
  if (parameters.exclude_self()) sum = std::max(0.0, sum - self);
  const int64_t queries =
      parameters.divisor() == v1::QUERY_DIVISOR_ALL ? positions : positions - excluded - k;
  return sum / static_cast<double>(queries);
}

double Alpha(const v1::ScoreParameters& parameters, const Trace& trace, int64_t block, int64_t head,
             int64_t k) {
  const double self = parameters.exclude_self() ? trace.AttentionSelf(block, head, k) : 0;
  return AlphaFromSum(parameters, trace.positions, k, trace.AttentionSum(block, head, k), self);
}

double MeanAlpha(const v1::ScoreParameters& parameters, const Trace& trace, int64_t block,
                 int64_t k) {
  double sum = 0;
  for (int64_t h = 0; h < trace.heads; ++h) sum += Alpha(parameters, trace, block, h, k);
  return sum / static_cast<double>(trace.heads);
}

void ScoreSink(const v1::ScoreParameters& parameters, const Trace& trace, v1::Sink& sink) {
  sink.clear_score();
  sink.clear_score_maximum();
  sink.clear_score_curve();
  if (!HasAlpha(parameters, trace.positions, sink.position())) return;
  const std::set<int32_t> layers(sink.layers().begin(), sink.layers().end());
  double sum = 0;
  int64_t readers = 0;
  for (const int32_t block : trace.AttentionBlocks()) {
    const bool reads = layers.contains(block - 1);
    if (!reads && !parameters.curves()) continue;
    const double alpha = MeanAlpha(parameters, trace, block, sink.position());
    if (parameters.curves()) sink.add_score_curve(static_cast<float>(alpha));
    if (!reads) continue;
    sum += alpha;
    ++readers;
    sink.set_score_maximum(sink.has_score_maximum() ? std::max(sink.score_maximum(), alpha)
                                                    : alpha);
  }
  if (readers > 0) sink.set_score(sum / static_cast<double>(readers));
}

void ScoreRecord(const v1::AnalysisSpec& spec, const Trace& trace, v1::SampleRecord& record) {
  const v1::ScoreParameters& parameters = spec.scores();
  ScoreSink(parameters, trace, *record.mutable_primary());
  for (v1::Sink& sink : *record.mutable_sinks()) ScoreSink(parameters, trace, sink);
}

}  // namespace sinkd
