#include "server/analysis/compensation_curves.h"

#include <algorithm>

#include <vector>

#include "server/analysis/sink_scores.h"

namespace sinkd {
namespace {

enum class Share : char { kRest, kPrimary, kSecondary };

std::vector<Share> ShareOfPositions(const Trace& trace, const SampleRecord& record) {
  std::vector<Share> shares(Trace::At(trace.positions), Share::kRest);
  shares[Trace::At(record.primary.position)] = Share::kPrimary;
  for (const Sink& sink : record.sinks) {
    if (sink.kind == SinkKind::kSecondary) shares[Trace::At(sink.position)] = Share::kSecondary;
  }
  return shares;
}

}  // namespace

CompensationCurves MakeCompensationCurves(const AnalysisSpec& spec, const Trace& trace,
                                          const SampleRecord& record) {
  const ScoreParameters parameters = ScoresOf(spec);
  const std::vector<Share> shares = ShareOfPositions(trace, record);
  CompensationCurves curves;
  for (int64_t l = 0; l < trace.layers; ++l) {
    double sums[3] = {0, 0, 0};  // by Share
    for (int64_t k = 0; k < trace.positions; ++k) {
      if (!HasAlpha(parameters, trace.positions, k)) continue;
      sums[static_cast<size_t>(shares[Trace::At(k)])] += MeanAlpha(parameters, trace, l, k);
    }
    curves.rest.push_back(static_cast<float>(sums[0]));
    curves.primary.push_back(static_cast<float>(sums[1]));
    curves.secondary.push_back(static_cast<float>(sums[2]));
    curves.primary_norm.push_back(trace.StateNorm(l, record.primary.position));
  }
  return curves;
}

std::optional<int32_t> WeakestBlock(const SampleRecord& record) {
  if (!record.compensation) return std::nullopt;
  const std::vector<float>& attention = record.compensation->primary;
  // Block l reads the state that block l - 1 writes, layer l - 1.
  const int64_t first = record.window_start + 1;
  const int64_t end = std::min<int64_t>(record.window_end + 1, std::ssize(attention));
  if (first >= end) return std::nullopt;
  const auto weakest = std::min_element(attention.begin() + first, attention.begin() + end);
  return static_cast<int32_t>(weakest - attention.begin());
}

}  // namespace sinkd
