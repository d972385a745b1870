// Definitions, Formation: Steering - what the MLP writes at positions where it writes along the
// primary sink's direction is given other norms, and sinks are found again.
//
// Beside each norm the same positions get a random direction of that norm, one per sample, drawn by
// seed. A steered position is judged by the primary sink and window of the pass as it is.
#pragma once

#include "server/mechanism/sink_outcomes.h"
#include "server/mechanism/study_base.h"
#include "server/mechanism/variant_sweep.h"

namespace sinkd {

class SteerStudy final : public StudyBase {
 public:
  using StudyBase::StudyBase;

 private:
  const v1::SteerParameters& steer() const { return request().steer(); }

  // One tau, or the pass as it is.
  struct Row {
    std::optional<double> tau;
    MeanOf mlp_norm, lifetime, score, untouched, random_lifetime, loss;
    ShareOf sinks;
  };
  enum class Pass { kUnsteered, kSteered, kRandom };

  std::vector<Phase> Plan() override;
  void AddFindings(const std::string& missing, v1::StudyReport& report) override;

  // `reason` turns why a number may be missing into why it is.
  v1::SteerRow MakeRow(const Row& row,
                       const std::function<std::string_view(std::string_view)>& reason) const;

  absl::Status FindPositions(int64_t sample, std::stop_token stop);
  absl::Status ChooseTaus();
  absl::Status Measure(int64_t sample, std::stop_token stop);
  // Per tau: steered, then random.
  std::vector<Variant> MakeVariants(const std::vector<int64_t>& positions);
  void Judge(int64_t sample, Pass pass, const PassOutcome& base, const SinkMap& before,
             const PassOutcome& outcome, Row& row) const;

  int32_t block_ = 0;
  std::vector<std::vector<int64_t>> positions_;  // steered, of each sample, ascending
  MeanOf norm_;                                  // of mlp_out there
  std::vector<Row> rows_;                        // the pass as it is, then by tau
  VariantSweep sweep_{model()};
  std::string undefined_;
};

}  // namespace sinkd
