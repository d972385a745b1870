// Definitions, Formation: Massive activations - the largest entries of the states, block by block.
#pragma once

#include "server/mechanism/study_base.h"

namespace sinkd {

class MassiveStudy final : public StudyBase {
 public:
  MassiveStudy(const StudyParameters& parameters, const MassiveParameters& massive,
               const StudyModel& model, std::vector<StudySample> samples);

 private:
  std::vector<Phase> Plan() override;
  StudyFindings Findings(const std::string& missing) override;
  absl::Status Measure(int64_t sample, std::stop_token stop);
  MassiveRow MakeRow(int64_t sample, int32_t block, const BlockEntries& entries) const;
  void Merge(const MassiveRow& row);

  const MassiveParameters massive_;
  std::vector<MassiveRow> overall_;           // per block
  std::vector<std::vector<double>> medians_;  // per block, of each sample
  std::vector<MassiveRow> per_sample_;
};

}  // namespace sinkd
