// The rows of an ablation study: what is taken away from what, and what came of it.
//
// Thread-safety: a row belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "server/analysis/records.h"
#include "server/engine/intervention.h"
#include "server/mechanism/estimates.h"
#include "server/mechanism/sink_outcomes.h"

namespace sinkd {

struct AblatedPosition {
  int64_t position = 0;
  int32_t first_layer = 0;  // as definitions say
};

// What an ablation is of.
struct AblationPlace {
  v1::Ablation ablation = v1::ABLATION_UNSPECIFIED;
  v1::AblatedGroup group = v1::ABLATED_GROUP_UNSPECIFIED;
  v1::AblationRole role = v1::ABLATION_ROLE_SELF;
  std::optional<Level> level;  // of levels
  int32_t block = 0;           // of heads
  int32_t head = 0;
};

// What a variant takes away of one sample.
struct SampleAblation {
  std::vector<AblatedPosition> positions;  // ascending; empty: of heads
  int64_t origin = 0;                      // distances of the curve are from here
  bool own_sinks = false;                  // `positions` are sinks
  Variant variant;
};

// The sample that one is of, unmodified.
struct AblatedSample {
  int64_t index = 0;  // in the request
  const TokenIds& ids;
  const v1::SampleRecord& record;
  const PassOutcome& base;
  const SinkMap& sinks;  // of the base
};

class AblationRow {
 public:
  static constexpr int kMostChanged = 100;

  explicit AblationRow(AblationPlace place) : place_(place) {}
  const AblationPlace& place() const { return place_; }

  void Add(const AblatedSample& sample, const SampleAblation& ablation, const PassOutcome& outcome,
           const SinkMap& sinks);

  // Adds what `other`, of the same place, has of further samples.
  void Merge(const AblationRow& other);

  // `reason`: why the study may have ended before there was anything; or empty.
  v1::AblateRow Result(std::string_view reason) const;

 private:
  void AddPredictions(const AblatedSample& sample, const SampleAblation& ablation,
                      const Predictions& predicted);
  void AddSinks(const AblatedSample& sample, const SampleAblation& ablation, const SinkMap& sinks);
  void AddChanged(const AblatedSample& sample, const v1::Sink& sink, bool appeared);

  AblationPlace place_;
  RatioOf loss_, divergence_, choices_, suppressed_, vanished_, appeared_;
  std::map<int, RatioOf> curve_;  // by the number of binary digits of the distance
  std::vector<v1::ChangedSink> changed_;
};

// The edits of positions, in the blocks that definitions name. `direction` [C]: of
// remove_direction.
Variant AblatePositions(v1::Ablation ablation, const std::vector<AblatedPosition>& positions,
                        const std::vector<float>& direction, const DecoderSpec& spec);

}  // namespace sinkd
