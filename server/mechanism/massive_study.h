// Definitions, Formation: Massive activations - the largest entries of the states, block by block.
#pragma once

#include "server/mechanism/study_base.h"

namespace sinkd {

class MassiveStudy final : public StudyBase {
 public:
  using StudyBase::StudyBase;

 private:
  const v1::MassiveParameters& massive() const { return request().massive(); }

  std::vector<Phase> Plan() override;
  void AddFindings(const std::string& missing, v1::StudyReport& report) override;
  absl::Status Measure(int64_t sample, std::stop_token stop);
  v1::MassiveRow MakeRow(int64_t sample, int32_t block, const BlockEntries& entries) const;
  void Merge(const v1::MassiveRow& row);

  std::vector<v1::MassiveRow> overall_;       // per block
  std::vector<std::vector<double>> medians_;  // per block, of each sample
  std::vector<v1::MassiveRow> per_sample_;
};

}  // namespace sinkd
