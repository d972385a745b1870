// SampleFacts: what an audit takes from one sample. Each row is a measure for policies: the mean of
// numbers over samples, or the most frequent layer.
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
  const v1::SampleRecord* record = nullptr;
  bool non_finite = false;  // failed because of a value that is not finite
};

struct SampleNumber {
  std::string_view measure;  // its name in a policy
  std::string_view text;     // "mean score of the primary sink"
  // Absent if the sample has no such value.
  std::optional<double> (*read)(const AuditedSample& sample);
};

struct SampleLayer {
  std::string_view measure;
  std::string_view text;
  std::optional<int32_t> (*read)(const v1::SampleRecord& record);
};

std::span<const SampleNumber> SampleNumbers();
std::span<const SampleLayer> SampleLayers();

}  // namespace sinkd
