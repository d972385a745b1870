// Definitions, Formation: PCA, the linear hypothesis - what the block's MLP makes of the principal
// components of its input, and of as many random directions.
#pragma once

#include "server/mechanism/estimates.h"
#include "server/mechanism/study_base.h"

namespace sinkd {

class PcaStudy final : public StudyBase {
 public:
  PcaStudy(const StudyParameters& parameters, const PcaParameters& pca, const StudyModel& model,
           std::vector<StudySample> samples);

 private:
  std::vector<Phase> Plan() override;
  StudyFindings Findings(const std::string& missing) override;

  absl::Status Capture(int64_t sample, std::stop_token stop);
  void AddOutput(std::span<const float> mlp_out);

  absl::Status FindDirections();
  // Every direction at every length, both signs, through the MLP.
  absl::Status Try(const Matrix& directions, std::vector<PcaDirection>& results,
                   std::stop_token stop) const;
  PcaTrial MakeTrial(double scale, std::span<const float> output) const;

  const PcaParameters pca_;
  PcaReport report_;
  MeanOf norm_;  // ||mlp_in|| of the targets
  Matrix rows_;  // mlp_in of the targets and controls, in the order in which they were captured
  Matrix components_, random_;
  // [C] mean over samples with targets of the primary sink's mlp_out, each scaled to length 1: a
  // direction's mean cosine with them is its product with this.
  std::vector<double> primary_output_;
  int64_t samples_ = 0;  // with targets
};

}  // namespace sinkd
