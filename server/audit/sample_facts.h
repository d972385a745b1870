// SampleFacts: what an audit reads off one sample. A row here is a measure of the policy language:
// numbers become their mean over samples, layers the most frequent one.
//
// Thread-safety: constant tables of pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "server/analysis/records.h"

namespace sinkd {

// One sample: its record, or none because it failed.
struct AuditedSample {
  const SampleRecord* record = nullptr;
  bool non_finite = false;  // failed over a value that is not finite
};

struct SampleNumber {
  std::string_view measure;  // its name in a policy
  std::string_view text;     // "mean score of the primary sink"
  // Absent when the sample does not tell.
  std::optional<double> (*read)(const AuditedSample& sample);
};

struct SampleLayer {
  std::string_view measure;
  std::string_view text;
  std::optional<int32_t> (*read)(const SampleRecord& record);
};

std::span<const SampleNumber> SampleNumbers();
std::span<const SampleLayer> SampleLayers();

}  // namespace sinkd
