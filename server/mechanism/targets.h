// Targets and controls: which positions of the samples a study looks at.
//
// Targets are the sinks past p0 that meet the filter; where there are more than its limit, a seeded
// draw of so many; in the order of samples and positions.
// Controls are positions past p0 that never become a sink of any kind: as many as targets, drawn
// without replacement among those with the token of some target, and where these are too few, the
// rest among all others. The i-th control stands beside the i-th target, whose l_start is its own.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "server/analysis/records.h"
#include "server/mechanism/draws.h"
#include "server/mechanism/study.h"

namespace sinkd {

// A sample whose sinks are known.
struct DetectedSample {
  StudySample sample;
  v1::SampleRecord record;
};

struct ChosenPosition {
  int64_t sample = 0;  // index into the detected samples
  int32_t position = 0;
  int32_t token_id = 0;
  int32_t l_start = 0;
  bool same_token = false;  // a control with the token of some target
};

// The filter's l_start or, where it names none, the most frequent among the sinks that meet the
// rest of it, the lowest of equals; nothing when none does.
std::optional<int32_t> ChooseStart(const v1::TargetFilter& filter,
                                   std::span<const DetectedSample> samples);

// `l_start` empty: whatever theirs is.
std::vector<ChosenPosition> ChooseTargets(const v1::TargetFilter& filter,
                                          std::optional<int32_t> l_start,
                                          std::span<const DetectedSample> samples, Draws& draws);

std::vector<ChosenPosition> ChooseControls(std::span<const ChosenPosition> targets,
                                           std::span<const DetectedSample> samples, Draws& draws);

// [T] whether the position is neither p0 nor ever a sink.
std::vector<bool> NeverSinks(const v1::SampleRecord& record);

// Those of them past p0, ascending.
std::vector<int64_t> NeverSinksPastPrimary(const v1::SampleRecord& record);

}  // namespace sinkd
