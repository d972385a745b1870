#include "server/analysis/compensation_curves.h"

#include <vector>

#include "server/analysis/sink_scores.h"

namespace sinkd {
namespace {

enum class Share : char { kRest, kPrimary, kSecondary };

std::vector<Share> ShareOfPositions(const Trace& trace, const v1::SampleRecord& record) {
  std::vector<Share> shares(Trace::At(trace.positions), Share::kRest);
  shares[Trace::At(record.primary().position())] = Share::kPrimary;
  for (const v1::Sink& sink : record.sinks()) {
    if (IsSecondary(sink)) shares[Trace::At(sink.position())] = Share::kSecondary;
  }
  return shares;
}

}  // namespace

v1::CompensationCurves MakeCompensationCurves(const v1::AnalysisSpec& spec, const Trace& trace,
                                              const v1::SampleRecord& record) {
  const v1::ScoreParameters& parameters = spec.scores();
  const std::vector<Share> shares = ShareOfPositions(trace, record);
  v1::CompensationCurves curves;
  for (int64_t l = 0; l < trace.layers; ++l) {
    curves.add_primary_norm(trace.StateNorm(l, record.primary().position()));
  }
  for (const int32_t l : trace.AttentionBlocks()) {
    double sums[3] = {0, 0, 0};  // by Share
    for (int64_t k = 0; k < trace.positions; ++k) {
      if (!HasAlpha(parameters, trace.positions, k)) continue;
      sums[static_cast<size_t>(shares[Trace::At(k)])] += MeanAlpha(parameters, trace, l, k);
    }
    curves.add_rest(static_cast<float>(sums[0]));
    curves.add_primary(static_cast<float>(sums[1]));
    curves.add_secondary(static_cast<float>(sums[2]));
  }
  return curves;
}

}  // namespace sinkd
