// What a study found. proto/sinks/v1/mechanism.proto says what every field means; these are the
// same, field by field.
//
// Thread-safety: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "server/engine/site.h"

namespace sinkd {

// A mean with Student's, or a share with Wilson's, 95% interval.
struct Estimate {
  std::optional<double> value, lower, upper;
  int64_t n = 0;
  std::string undefined;
};

enum class PositionGroup { kTarget, kControl };

struct StudyPosition {
  int64_t sample_index = 0;  // place in the request
  int32_t position = 0;
  int32_t token_id = 0;
  PositionGroup group = PositionGroup::kTarget;
  int32_t l_start = 0;  // of a control: of the target it stands beside
  bool same_token = false;
};

struct AlignRow {
  Site site = Site::kMlpIn;
  PositionGroup group = PositionGroup::kTarget;
  std::optional<int32_t> l_start;
  Estimate cosine;
  double minimum = 0, median = 0, maximum = 0;  // 0 when cosine is undefined
};
struct AlignPoint {
  int64_t index = 0;  // into StudyReport::positions
  std::vector<double> cosines;
};
struct AlignReport {
  std::vector<Site> sites;
  std::vector<AlignRow> rows;
  std::vector<AlignPoint> points;
};

struct PcaTrial {
  double scale = 0;
  double output_norm = 0;
  double cosine = 0;
};
struct PcaDirection {
  std::optional<double> explained_variance, singular_value;
  bool effective = false;
  std::vector<PcaTrial> trials;
};
struct PcaReport {
  int32_t block = 0;
  int64_t rows = 0;
  double mean_norm = 0;
  std::vector<PcaDirection> components, random;
  std::string undefined;
};

struct ClusterRow {
  int32_t block = 0;
  Site site = Site::kResidPre;
  double adjusted_rand = 0, silhouette = 0, auc = 0;
  std::string undefined;
};
struct TsneMap {
  int32_t block = 0;
  Site site = Site::kResidPre;
  double perplexity = 0;
  double divergence = 0;
  std::vector<float> coordinates;  // [positions, 2]
};
struct DecisionLayer {
  Site site = Site::kResidPre;
  std::optional<int32_t> block;
};
struct ClusterReport {
  std::vector<ClusterRow> rows;
  std::vector<DecisionLayer> decision_layers;
  std::optional<int32_t> decision_layer;
  std::optional<Site> decision_site;
  std::vector<TsneMap> maps;
  std::string undefined;
};

struct SinkOutcome {
  Estimate suppressed, cosine_change, norm_change, lifetime_change;
};
struct SwapRow {
  int32_t block = 0;
  Site site = Site::kResidPost;
  SinkOutcome targets, untouched, control_swap;
  std::optional<Estimate> loss_change, control_loss_change;
};
struct StudyCost {
  int64_t block_rows = 0;
  int64_t naive_block_rows = 0;
};
struct SwapReport {
  std::vector<SwapRow> rows;
  StudyCost cost;
  int64_t samples_left_out = 0;
  std::string undefined;
};

struct SteerRow {
  std::optional<double> tau;
  Estimate mlp_norm, lifetime, sinks, score, untouched_lifetime_change, random_lifetime;
  std::optional<Estimate> loss_change;
};
struct SteerReport {
  int32_t block = 0;
  int64_t steered = 0;
  std::vector<SteerRow> rows;
  StudyCost cost;
  std::string undefined;
};

struct EntropyRow {
  int32_t block = 0;
  Estimate entropy, normalized, without_sinks;
};
struct EntropyReport {
  std::vector<EntropyRow> rows;
};

struct GroupNorms {
  Estimate key, value, state;
  std::optional<double> key_median, value_median, state_median;
};
struct NormsRow {
  int32_t block = 0;
  GroupNorms primary, secondary, rest;
};
struct NormsReport {
  std::vector<NormsRow> rows;
};

struct MassiveEntry {
  int64_t sample_index = 0;
  int32_t position = 0;
  int32_t token_id = 0;
  std::string token_text;
  int32_t channel = 0;
  double value = 0;
};
struct MassiveRow {
  int32_t block = 0;
  std::optional<int64_t> sample_index;
  std::vector<MassiveEntry> entries;
  double median = 0;
  double largest_of_rest = 0;
};
struct MassiveReport {
  std::vector<MassiveRow> rows;
};

using StudyFindings = std::variant<AlignReport, PcaReport, ClusterReport, SwapReport, SteerReport,
                                   EntropyReport, NormsReport, MassiveReport>;

struct StudyReport {
  bool partial = false;
  std::string partial_reason;
  int64_t samples = 0;
  int64_t tokens = 0;
  int64_t sinks = 0;
  int64_t targets = 0;
  int64_t controls = 0;
  std::optional<int32_t> target_l_start;
  std::vector<StudyPosition> positions;
  double seconds = 0;
  StudyFindings findings;
};

}  // namespace sinkd
