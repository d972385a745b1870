// Definitions, Formation: Clustering - from which block on targets and controls lie apart.
//
// Blocks are captured in runs, as many at once as their rows fit into kCaptureBytes, so that a run
// costs one pass over the samples; a run is looked at before the next is captured.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "server/analysis/separation.h"
#include "server/base/in_turns.h"
#include "server/engine/decomposition.h"
#include "server/mechanism/study_base.h"

namespace sinkd {

class ClusterStudy final : public StudyBase {
 public:
  static constexpr int64_t kCaptureBytes = int64_t{1} << 30;

  using StudyBase::StudyBase;

 private:
  const v1::ClusterParameters& cluster() const { return request().cluster(); }

  struct Place {
    int32_t block = 0;
    v1::Site site = v1::SITE_RESID_PRE;
    auto operator<=>(const Place&) const = default;
  };

  // Of the rows of one place: its row of the report, then its map.
  struct Comparison {
    Matrix rows;
    std::vector<int32_t> groups;  // 1: a target, 0: a control
    v1::ClusterRow row;
    double auc = 0;
    bool row_done = false;
    bool map_done = false;
    std::unique_ptr<InTurns<KMeansResult>> clusters;
    std::unique_ptr<InTurns<SeparationScore>> silhouette;
    std::unique_ptr<InTurns<TsneResult>> map;
  };

  std::vector<Phase> Plan() override;
  void AddFindings(const std::string& missing, v1::StudyReport& report) override;

  // Places of blocks [first, end) that rows or maps are made of.
  std::vector<Place> PlacesOf(int32_t first, int32_t end) const;
  int64_t BlocksAtOnce() const;
  void PlanRun(int32_t first, int32_t end, std::vector<Phase>& phases);
  absl::Status Capture(const std::vector<Place>& places, int64_t sample, std::stop_token stop);
  // A turn of comparing the rows of a place.
  absl::Status Compare(Place place, std::stop_token stop);
  void BeginComparing(Place place);
  absl::Status FillRow(Comparison& comparison, std::stop_token stop) const;
  absl::Status BeginRow(Comparison& comparison) const;
  absl::Status DrawMap(Comparison& comparison, std::stop_token stop);
  v1::DecisionLayer DecisionOf(v1::Site site) const;
  void Decide();

  int32_t first_ = 0, last_ = 0;      // blocks looked at
  std::map<Place, Matrix> captured_;  // targets, then controls
  v1::ClusterReport report_;
  std::optional<Comparison> comparison_;
};

}  // namespace sinkd
