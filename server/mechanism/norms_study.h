// Definitions, Formation: Norms - of keys, values and states, of the primary sinks, the secondary
// ones and the positions that never are a sink.
//
// Means are over all positions, with cluster-robust intervals over samples. Medians are over the
// same while a group has at most kMedianPositions of them, and over a seeded draw of so many where
// it has more.
#pragma once

#include <array>

#include "server/mechanism/estimates.h"
#include "server/mechanism/study_base.h"

namespace sinkd {

inline constexpr int64_t kMedianPositions = 65536;

class NormsStudy final : public StudyBase {
 public:
  using StudyBase::StudyBase;

 private:
  // Norms of one kind (key, value, state) of one group in one block.
  struct Values {
    double sum = 0;  // over the sample in progress
    int64_t count = 0;
    RatioOf mean;
    std::vector<float> kept;  // of the group's positions in the draw
  };
  struct Group {
    int64_t positions = 0;
    std::vector<std::array<Values, 3>> blocks;
  };

  std::vector<Phase> Plan() override;
  void AddFindings(const std::string& missing, v1::StudyReport& report) override;
  absl::Status Measure(int64_t sample, std::stop_token stop);
  void Add(const RowNorms& norms, int64_t position, Group& group);
  static void EndSample(Group& group);
  static v1::GroupNorms Sum(const std::array<Values, 3>& values, std::string_view none);

  Group primary_, secondary_, rest_;
};

}  // namespace sinkd
