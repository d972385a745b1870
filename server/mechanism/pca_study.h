// Definitions, Formation: PCA, the linear hypothesis - what the block's MLP makes of the principal
// components of its input, and of as many random directions.
#pragma once

#include <memory>

#include "server/base/in_turns.h"
#include "server/engine/decomposition.h"
#include "server/mechanism/estimates.h"
#include "server/mechanism/study_base.h"

namespace sinkd {

class PcaStudy final : public StudyBase {
 public:
  using StudyBase::StudyBase;

 private:
  const v1::PcaParameters& pca() const { return request().pca(); }

  std::vector<Phase> Plan() override;
  void AddFindings(const std::string& missing, v1::StudyReport& report) override;

  absl::Status Capture(int64_t sample, std::stop_token stop);
  void AddOutput(std::span<const float> mlp_out);

  absl::Status FindDirections(std::stop_token stop);
  // Every direction at every length, both signs, through the MLP.
  absl::Status Try(const Matrix& directions,
                   google::protobuf::RepeatedPtrField<v1::PcaDirection>& results,
                   std::stop_token stop) const;
  v1::PcaTrial MakeTrial(double scale, std::span<const float> output) const;

  v1::PcaReport report_;
  MeanOf norm_;  // ||mlp_in|| of the targets
  Matrix rows_;  // mlp_in of the targets and controls, in the order in which they were captured
  Matrix components_, random_;
  // [C] mean over samples with targets of the primary sink's mlp_out, each scaled to length 1: a
  // direction's mean cosine with them is its product with this.
  std::vector<double> primary_output_;
  int64_t samples_ = 0;                                      // with targets
  std::unique_ptr<OnTheSide<PrincipalComponents>> finding_;  // borrows rows_
};

}  // namespace sinkd
