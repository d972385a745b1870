#include "server/analysis/record_check.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <absl/strings/str_cat.h>

#include "server/base/status.h"

namespace sinkd {
namespace {

absl::Status Inconsistent(const SampleRecord& record, const std::string& what) {
  return InvalidArgument(absl::StrCat("record of sample ", record.sample_index, ": ", what),
                         {.reason = "INCONSISTENT_RECORD",
                          .subject = absl::StrCat("record of sample ", record.sample_index),
                          .fix = "analyse the sample again"});
}

bool Finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

absl::Status CheckSink(const SampleRecord& record, const Sink& sink) {
  const auto bad = [&](const std::string& what) {
    return Inconsistent(record, absl::StrCat("the sink at position ", sink.position, " ", what));
  };
  if (sink.position < 0 || sink.position >= record.positions) return bad("is outside the sample");
  const Level& level = sink.level;
  if (level.l_start < 0 || level.lifetime < 1 || level.l_start + level.lifetime > record.layers) {
    return bad("has a level outside the layers");
  }
  const auto inside = [&](int32_t layer) { return layer >= 0 && layer < record.layers; };
  if (!std::all_of(sink.layers.begin(), sink.layers.end(), inside)) {
    return bad("has a layer outside the layers");
  }
  const size_t values = sink.score_curve.size();
  if (values != 0 && values != static_cast<size_t>(record.layers)) {
    return bad("has a score curve that does not have one value per block");
  }
  const bool finite = std::isfinite(sink.margin) && std::isfinite(sink.mlp_norm) &&
                      std::isfinite(sink.state_norm) && std::isfinite(sink.score.value_or(0)) &&
                      std::isfinite(sink.score_maximum.value_or(0)) && Finite(sink.score_curve);
  return finite ? absl::OkStatus() : bad("has a number that is not finite");
}

absl::Status CheckCurves(const SampleRecord& record) {
  const CompensationCurves& curves = *record.compensation;
  for (const auto* curve :
       {&curves.primary, &curves.secondary, &curves.rest, &curves.primary_norm}) {
    if (curve->size() != static_cast<size_t>(record.layers)) {
      return Inconsistent(record, "a compensation curve does not have one value per block");
    }
    if (!Finite(*curve)) return Inconsistent(record, "a compensation curve is not finite");
  }
  return absl::OkStatus();
}

absl::Status CheckLearnedSinks(const SampleRecord& record) {
  const std::vector<float>& mass = record.learned_sink_mass;
  if (mass.empty()) return absl::OkStatus();
  if (mass.size() != static_cast<size_t>(record.layers)) {
    return Inconsistent(record, "the mass of learned sinks does not have one value per block");
  }
  return Finite(mass) ? absl::OkStatus()
                      : Inconsistent(record, "the mass of learned sinks is not finite");
}

absl::Status CheckPortrait(const SampleRecord& record) {
  if (!record.portrait) return absl::OkStatus();
  const Portrait& portrait = *record.portrait;
  const bool texts = portrait.token_texts.empty() ||
                     portrait.token_texts.size() == static_cast<size_t>(record.positions);
  const bool columns = portrait.columns >= 1 && portrait.columns <= record.positions;
  if (!texts || !columns ||
      portrait.state_norms.size() != static_cast<size_t>(record.layers * portrait.columns)) {
    return Inconsistent(record, "the portrait does not have the sample's shape");
  }
  return Finite(portrait.state_norms) ? absl::OkStatus()
                                      : Inconsistent(record, "the portrait is not finite");
}

}  // namespace

absl::Status CheckRecord(const SampleRecord& record) {
  if (record.layers < 2) return Inconsistent(record, "fewer than 2 layers");
  if (record.positions < 1) return Inconsistent(record, "no positions");
  if (record.window_start < 0 || record.window_start >= record.window_end ||
      record.window_end > record.layers) {
    return Inconsistent(record, absl::StrCat("the window [", record.window_start, ", ",
                                             record.window_end, ") is not within the layers"));
  }
  SINKD_RETURN_IF_ERROR(CheckSink(record, record.primary));
  for (const Sink& sink : record.sinks) SINKD_RETURN_IF_ERROR(CheckSink(record, sink));
  if (record.compensation) SINKD_RETURN_IF_ERROR(CheckCurves(record));
  SINKD_RETURN_IF_ERROR(CheckPortrait(record));
  return CheckLearnedSinks(record);
}

}  // namespace sinkd
