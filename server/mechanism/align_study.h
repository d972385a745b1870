// Definitions, Formation: Alignment - at l_start, the cosine of each site with the primary sink's.
#pragma once

#include "server/mechanism/study_base.h"

namespace sinkd {

class AlignStudy final : public StudyBase {
 public:
  using StudyBase::StudyBase;

 private:
  const v1::AlignParameters& align() const { return request().align(); }

  std::vector<Phase> Plan() override;
  void AddFindings(const std::string& missing, v1::StudyReport& report) override;

  // Positions of one sample at one l_start, and where their cosines go.
  struct Group {
    int32_t l_start = 0;
    std::vector<int64_t> positions;
    std::vector<std::vector<double>*> cosines;
  };
  std::vector<Group> GroupsOf(int64_t sample);
  absl::Status Measure(int64_t sample, std::stop_token stop);
  v1::AlignRow MakeRow(size_t site, v1::PositionGroup group, std::optional<int32_t> l_start,
                       const std::string& missing) const;

  std::vector<int32_t> starts_;  // of the targets, ascending
  std::vector<Site> sites_;      // those that the model has at all of them
  // Of each target and of each control, per site; empty until its sample is measured.
  std::vector<std::vector<double>> target_cosines_, control_cosines_;
};

}  // namespace sinkd
