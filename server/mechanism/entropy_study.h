// Definitions, Formation: Matrix entropy - block by block over a window of positions, with and
// without the sinks in it.
#pragma once

#include "server/mechanism/estimates.h"
#include "server/mechanism/study_base.h"

namespace sinkd {

class EntropyStudy final : public StudyBase {
 public:
  EntropyStudy(const StudyParameters& parameters, const EntropyParameters& entropy,
               const StudyModel& model, std::vector<StudySample> samples);

 private:
  // A mean and why the last value that did not count is undefined.
  struct Tally {
    MeanOf mean;
    std::string undefined;
    Estimate Result(const std::string& missing) const;
  };
  struct Row {
    Tally entropy, normalized, without_sinks;
  };

  std::vector<Phase> Plan() override;
  StudyFindings Findings(const std::string& missing) override;
  absl::Status Measure(int64_t sample, std::stop_token stop);

  const EntropyParameters entropy_;
  std::vector<Row> rows_;  // per block
};

}  // namespace sinkd
