// What a caller can choose about the analyses; every result names the values it was computed with.
// Defaults are the published ones (definitions).
//
// Thread-safety: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <absl/status/status.h>

#include "server/engine/trace.h"

namespace sinkd {

enum class KindRule { kWindow, kPublished };

// Definitions: Sinks and levels.
struct DetectionParameters {
  double cosine_threshold = 0.9;  // in (0, 1), strict
  double min_norm_ratio = 0.0;    // 0 to 1e6, times the median norm of the layer
  KindRule kind_rule = KindRule::kWindow;
  LastState last_state = LastState::kNormed;
  bool operator==(const DetectionParameters&) const = default;
};

// The preset `paper-text`: cosine 0.95, ratio 3. `published-code` is the default above.
DetectionParameters PaperTextDetection();

enum class QueryDivisor { kFromPosition, kAll };  // divide by T-k, or by T

// Definitions: Attention received and sink scores. Applies to every alpha of the request.
struct ScoreParameters {
  bool exclude_self = false;  // i > k, divisor T-1-k
  QueryDivisor divisor = QueryDivisor::kFromPosition;
  bool curves = false;         // per sink: mean over heads of alpha, per block
  bool all_positions = false;  // alpha[l,h,k] of every position, beside the record
  bool operator==(const ScoreParameters&) const = default;
};

// Gu et al.'s sink rate (arXiv 2410.10781).
struct SinkRateParameters {
  double epsilon = 0.3;      // in [0, 1), strict
  int64_t positions = 64;    // 1 to 4096: rates of positions 0..positions-1
  int64_t first_tokens = 0;  // 0 to 4096; > 0: each sample cut to its first tokens, shorter ones
                             // left out; the preset gu2024 is 64
  bool operator==(const SinkRateParameters&) const = default;
};

struct LevelParameters {
  double min_share = 0.02;                // 0 to 1, of the secondary sinks, for "distinct levels"
  int64_t top_tokens = 10;                // 0 to 1000 most frequent token ids listed
  bool include_primary_position = false;  // count p0 itself too, as the published files do
  bool operator==(const LevelParameters&) const = default;
};

struct RegressionParameters {
  bool include_primary = false;  // fit over primary sinks as well
  bool points = false;           // return the points
  bool operator==(const RegressionParameters&) const = default;
};

struct CompensationParameters {
  int64_t bootstrap_samples = 1000;  // 0 to 10000; 0: no intervals
  uint64_t seed = 0;
  bool operator==(const CompensationParameters&) const = default;
};

struct PortraitParameters {
  int64_t samples = 1;  // 1 to 100: of the first so many samples of the stream
  bool operator==(const PortraitParameters&) const = default;
};

// One request. Detection always runs; the others when present.
struct AnalysisSpec {
  DetectionParameters detection;
  std::optional<ScoreParameters> scores;
  std::optional<SinkRateParameters> sink_rate;
  std::optional<LevelParameters> levels;
  std::optional<RegressionParameters> regression;
  std::optional<CompensationParameters> compensation;
  std::optional<PortraitParameters> portrait;
  bool operator==(const AnalysisSpec&) const = default;
};

// INVALID_ARGUMENT naming the field under `path` ("spec.detection"), its value and its limit.
absl::Status ValidateDetection(const DetectionParameters& parameters, const std::string& path);

// INVALID_ARGUMENT naming the field ("spec.detection.cosine_threshold"), its value and its limit.
absl::Status Validate(const AnalysisSpec& spec);

// What the engine must trace so that every analysis of `spec` can be made from one pass.
TraceRequest RequiredTrace(const AnalysisSpec& spec);

}  // namespace sinkd
