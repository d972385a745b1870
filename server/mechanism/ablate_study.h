// Definitions: Ablations - the primary sink, the targets, those of the most frequent levels, and
// heads are ablated one after the other, controls beside them, and it is measured what the model
// loses.
//
// All variants of a sample run together, after a pass that shows who gets attention and one that
// captures what the primary sink's MLP writes.
#pragma once

#include <utility>

#include "server/mechanism/ablation_rows.h"
#include "server/mechanism/study_base.h"
#include "server/mechanism/variant_sweep.h"

namespace sinkd {

class AblateStudy final : public StudyBase {
 public:
  using StudyBase::StudyBase;

 private:
  const v1::AblateParameters& ablate() const { return request().ablate(); }

  // What is ablated in a sample, before its targets are grouped by level.
  struct Ablated {
    std::vector<float> direction;  // [C]
    std::vector<const v1::Sink*> targets;
    // [role] beside p0, and beside the targets, in their order; fewer where positions are few.
    std::vector<int64_t> drawn_for_primary, drawn, attended;
  };
  struct HeadPlace {
    int32_t block = 0;
    int32_t head = 0;
  };

  std::vector<Phase> Plan() override;
  void AddFindings(const std::string& missing, v1::StudyReport& report) override;
  int64_t ControlCount() const override;

  // What goes before the sweep, sample by sample.
  absl::Status Prepare(int64_t sample, std::stop_token stop);
  void RankPositions(int64_t sample, const Trace& trace);
  absl::Status ChooseRows();
  std::vector<Level> FrequentLevels() const;
  // The heads with the most attention to the primary sink, then as many drawn from the others.
  std::pair<std::vector<HeadPlace>, std::vector<HeadPlace>> ChooseHeads();
  void AddPositionRows(v1::Ablation ablation, const std::vector<Level>& levels);

  absl::Status Measure(int64_t sample, std::stop_token stop);
  SampleAblation MakeAblation(int64_t sample, const AblationPlace& place) const;
  std::vector<AblatedPosition> PositionsOf(int64_t sample, const AblationPlace& place) const;

  std::vector<Ablated> samples_;
  std::vector<double> primary_alpha_;  // [L, H] sum over samples
  std::vector<AblationRow> rows_;
  RatioOf loss_;
  VariantSweep sweep_{model()};
};

}  // namespace sinkd
