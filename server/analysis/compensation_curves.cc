#include "server/analysis/compensation_curves.h"

#include <vector>

#include "server/analysis/record_part.h"
#include "server/analysis/sink_scores.h"
#include "server/base/status.h"

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

absl::Status CheckCompensationCurves(const v1::SampleRecord& record) {
  if (!record.has_compensation()) return absl::OkStatus();
  constexpr double kLeast = RecordPart::kLeastShare, kAny = RecordPart::kAny;
  const v1::CompensationCurves& curves = record.compensation();
  const RecordPart part(record, "compensation");
  SINKD_RETURN_IF_ERROR(part.Curve("primary", curves.primary(), kLeast, RecordPart::kMostShare));
  SINKD_RETURN_IF_ERROR(part.Curve("secondary", curves.secondary(), kLeast, kAny));
  SINKD_RETURN_IF_ERROR(part.Curve("rest", curves.rest(), kLeast, kAny));
  SINKD_RETURN_IF_ERROR(
      part.Size("primary_norm", curves.primary_norm_size(), record.layers(), record.layers()));
  return part.Numbers("primary_norm", curves.primary_norm(), 0, kAny);
}

}  // namespace sinkd
