// Summary: a fold over records. Add records in any order, merge summaries of disjoint sets in any
// order: Report() gives the same numbers to the last bit. The same fold serves a live stream, a
// stored run, a query over many runs, and shards from many machines.
//
// Memory: O(distinct levels + tokens) plus one point per sink for the regression and one set of
// curves per sample for the compensation bootstrap. Report() sorts the points and draws the
// bootstrap: call it for the end of a run, not for every record. Thread-safety: none; one thread at
// a time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <absl/status/status.h>

#include "server/analysis/accumulator.h"
#include "server/analysis/parameters.h"
#include "server/analysis/records.h"
#include "server/analysis/regression.h"
#include "server/base/interval.h"

namespace sinkd {

struct LevelCount {
  Level level;
  SinkKind kind = SinkKind::kNoise;
  int64_t count = 0;
};

struct TokenCount {
  int32_t token_id = 0;
  std::string text;
  int64_t count = 0;
};

// Definitions: Level histogram. Tokens and positions are those of secondary sinks.
struct LevelReport {
  std::vector<LevelCount> counts;  // ascending by level, then kind
  int64_t primary = 0, secondary = 0, noise = 0;
  int64_t positions = 0;  // tokens seen
  double secondary_per_1000_tokens = 0;
  int64_t samples_with_secondary = 0;
  double share_of_samples_with_secondary = 0;
  int64_t distinct_levels = 0;               // holding at least min_share of the secondary sinks
  std::optional<double> entropy;             // nats; empty without secondary sinks
  std::optional<double> normalized_entropy;  // / ln(levels); empty with fewer than two levels
  std::vector<TokenCount> top_tokens;        // by count, then id
  std::array<int64_t, 10> position_bins{};   // floor(10 * position / T)
};

struct ScoreStatistics {
  SinkKind kind = SinkKind::kNoise;
  int64_t count = 0;               // sinks with a score
  int64_t undefined = 0;           // sinks that no block with attention reads
  double mean = 0, deviation = 0;  // deviation: sample (n - 1); 0 when count < 2
  double minimum = 0, maximum = 0;
};

struct ScoreReport {
  ScoreStatistics primary_position;      // p0 of every sample
  std::vector<ScoreStatistics> by_kind;  // sinks past p0, one per SinkKind, in order
};

struct SinkRateReport {
  int64_t samples = 0;         // counted
  int64_t left_out = 0;        // shorter than first_tokens
  std::vector<double> rates;   // by position; a rate counts only samples that have the position
  std::vector<int64_t> cells;  // (sample, layer, head) triples behind each rate
  std::vector<int64_t> hits;
};

struct RegressionReport {
  RegressionResult score;     // y = score
  RegressionResult lifetime;  // y = lifetime
  int64_t without_score = 0;  // sinks left out of `score`: no block with attention reads them
  std::vector<RegressionPoint> score_points, lifetime_points;  // when requested
};

struct BlockCompensation {
  // Means over samples; attention's are empty in a block without.
  std::optional<double> primary, secondary, rest;
  double primary_norm = 0;
  std::optional<Interval> primary_interval, secondary_interval;  // bootstrap, 95%
};

struct CompensationReport {
  int64_t samples = 0;
  std::vector<BlockCompensation> blocks;           // [L]
  std::map<int32_t, int64_t> weakest_block;        // by sample: WeakestBlock
  std::map<int32_t, int64_t> start_minus_weakest;  // over secondary sinks
  // Between primary and secondary mass, over all pairs of a sample and a block with attention in
  // its window.
  Correlation pearson, spearman;
  std::optional<Interval> pearson_interval, spearman_interval;
};

struct LearnedSinkReport {
  int64_t samples = 0;       // with a mass
  std::vector<double> mass;  // [A] mean over those samples
};

// Definitions: Gates. [A, H] means over samples.
struct GateReport {
  int64_t samples = 0;                 // with gates
  int64_t samples_with_secondary = 0;  // of those, that the third mean is over
  int64_t heads = 0;                   // H
  std::vector<double> all, primary;
  std::vector<double> secondary;  // empty where no sample has a secondary sink
};

struct SummaryReport {
  int64_t samples = 0;
  int64_t positions = 0;
  int64_t undecided_samples = 0;
  std::vector<int32_t> attention_blocks;  // as in SampleRecord
  std::vector<std::string> notes;         // e.g. the published rule on a model of at most 19 layers
  std::optional<ScoreReport> scores;
  std::optional<SinkRateReport> sink_rate;
  std::optional<LevelReport> levels;
  std::optional<RegressionReport> regression;
  std::optional<CompensationReport> compensation;
  std::optional<LearnedSinkReport> learned_sinks;  // empty when no record has a mass
  std::optional<GateReport> gates;                 // empty when no record has gates
};

class Summary {
 public:
  explicit Summary(v1::AnalysisSpec spec);
  Summary(const Summary& other);
  Summary& operator=(const Summary& other);
  Summary(Summary&&) noexcept;
  Summary& operator=(Summary&&) noexcept;
  ~Summary();

  const v1::AnalysisSpec& spec() const { return spec_; }

  // INVALID_ARGUMENT when the record has other layers or attention in other blocks than those
  // before, or contradicts itself (imported ones can): a window outside the layers, a position
  // outside the sample, curves of another length, numbers that are not finite. The summary is then
  // unchanged. A record that lacks what an analysis needs is not counted by that analysis.
  absl::Status Add(const SampleRecord& record);
  // INVALID_ARGUMENT when the parameters, the number of layers or the blocks with attention differ.
  absl::Status Merge(const Summary& other);
  SummaryReport Report() const;

 private:
  v1::AnalysisSpec spec_;
  int64_t layers_ = 0;  // 0 until the first record
  std::vector<int32_t> attention_blocks_;
  int64_t samples_ = 0;
  int64_t positions_ = 0;
  int64_t undecided_samples_ = 0;
  std::map<std::string, int64_t> arithmetics_;  // samples by SampleRecord::arithmetic
  // Of the requested analyses, in catalog order; then learned sinks and gates, if any looks at
  // attention.
  std::vector<std::unique_ptr<Accumulator>> parts_;
};

}  // namespace sinkd
