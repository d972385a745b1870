// Definitions, Formation: Matrix entropy - block by block over a window of positions, with and
// without the sinks in it.
#pragma once

#include "server/mechanism/estimates.h"
#include "server/mechanism/study_base.h"

namespace sinkd {

class EntropyStudy final : public StudyBase {
 public:
  using StudyBase::StudyBase;

 private:
  const v1::EntropyParameters& entropy() const { return request().entropy(); }

  // A mean and why the last value that did not count is undefined.
  struct Tally {
    MeanOf mean;
    std::string undefined;
    v1::Estimate Result(const std::string& missing) const;
  };
  struct Row {
    Tally entropy, normalized, without_sinks;
  };

  std::vector<Phase> Plan() override;
  void AddFindings(const std::string& missing, v1::StudyReport& report) override;
  absl::Status Measure(int64_t sample, std::stop_token stop);

  std::vector<Row> rows_;  // per block
};

}  // namespace sinkd
