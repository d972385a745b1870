#include "server/mechanism/align_study.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "server/base/status.h"
#include "server/mechanism/estimates.h"
#include "server/mechanism/rows.h"
#include "server/mechanism/sites.h"

namespace sinkd {
namespace {

constexpr Site kSites[] = {Site::kMlpIn, Site::kGate,    Site::kUp,
                           Site::kAct,   Site::kProduct, Site::kMlpOut};

}  // namespace

std::vector<StudyBase::Phase> AlignStudy::Plan() {
  ChooseTargetsOf(/*any_start=*/true);
  controls_ = ChooseControls(targets_, detected(), draws());
  target_cosines_.resize(targets_.size());
  control_cosines_.resize(controls_.size());
  std::set<int32_t> starts;
  for (const ChosenPosition& target : targets_) starts.insert(target.l_start);
  starts_.assign(starts.begin(), starts.end());
  for (const Site site : kSites) {
    const auto has = [&](int32_t start) { return HasSite(model().info().spec, site, start); };
    if (std::all_of(starts_.begin(), starts_.end(), has)) sites_.push_back(site);
  }
  return {MeasureEachSample(
      "capture", [this](int64_t sample, std::stop_token stop) { return Measure(sample, stop); })};
}

std::vector<AlignStudy::Group> AlignStudy::GroupsOf(int64_t sample) {
  std::map<int32_t, Group> groups;
  const auto collect = [&](const std::vector<ChosenPosition>& chosen,
                           std::vector<std::vector<double>>& cosines) {
    for (size_t i = 0; i < chosen.size(); ++i) {
      if (chosen[i].sample != sample) continue;
      Group& group = groups[chosen[i].l_start];
      group.l_start = chosen[i].l_start;
      group.positions.push_back(chosen[i].position);
      group.cosines.push_back(&cosines[i]);
    }
  };
  collect(targets_, target_cosines_);
  collect(controls_, control_cosines_);
  std::vector<Group> found;
  for (auto& [start, group] : groups) found.push_back(std::move(group));
  return found;
}

absl::Status AlignStudy::Measure(int64_t sample, std::stop_token stop) {
  const std::vector<Group> groups = GroupsOf(sample);
  if (groups.empty()) return absl::OkStatus();
  std::vector<CaptureRequest> requests;
  for (const Group& group : groups) {
    std::vector<int64_t> positions = {detected(sample).record.primary().position()};
    positions.insert(positions.end(), group.positions.begin(), group.positions.end());
    for (const Site site : sites_) requests.push_back({site, group.l_start, positions});
  }
  SINKD_ASSIGN_OR_RETURN(const std::vector<Matrix> captured,
                         model().Capture(detected(sample).sample.ids, requests, stop));
  for (size_t r = 0; r < captured.size(); ++r) {
    const Group& group = groups[r / sites_.size()];
    for (size_t i = 0; i < group.cosines.size(); ++i) {
      group.cosines[i]->push_back(
          Cosine(captured[r].Row(static_cast<int64_t>(i) + 1), captured[r].Row(0)));
    }
  }
  return absl::OkStatus();
}

v1::AlignRow AlignStudy::MakeRow(size_t site, v1::PositionGroup group,
                                 std::optional<int32_t> l_start, const std::string& missing) const {
  const bool target = group == v1::POSITION_GROUP_TARGET;
  const auto& chosen = target ? targets_ : controls_;
  const auto& cosines = target ? target_cosines_ : control_cosines_;
  MeanOf mean;
  std::vector<double> values;
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (!Covers(chosen[i]) || (l_start && chosen[i].l_start != *l_start)) continue;
    mean.Add(cosines[i][site]);
    values.push_back(cosines[i][site]);
  }
  const std::string_view none = target ? "no targets" : "no controls";
  v1::AlignRow row;
  row.set_site(EncodeSite(sites_[site]));
  row.set_group(group);
  if (l_start) row.set_l_start(*l_start);
  *row.mutable_cosine() = mean.Result(missing.empty() ? none : missing);
  if (!row.cosine().has_value()) return row;
  row.set_minimum(*std::min_element(values.begin(), values.end()));
  row.set_median(Median(values));
  row.set_maximum(*std::max_element(values.begin(), values.end()));
  return row;
}

void AlignStudy::AddFindings(const std::string& missing, v1::StudyReport& report) {
  v1::AlignReport& found = *report.mutable_align();
  for (const Site site : sites_) found.add_sites(EncodeSite(site));
  std::vector<std::optional<int32_t>> starts = {std::nullopt};
  starts.insert(starts.end(), starts_.begin(), starts_.end());
  for (const std::optional<int32_t>& start : starts) {
    for (size_t site = 0; site < sites_.size(); ++site) {
      for (const auto group : {v1::POSITION_GROUP_TARGET, v1::POSITION_GROUP_CONTROL}) {
        *found.add_rows() = MakeRow(site, group, start, missing);
      }
    }
  }
  if (!align().points()) return;
  const auto add = [&](const std::vector<ChosenPosition>& chosen,
                       const std::vector<std::vector<double>>& cosines) {
    for (size_t i = 0; i < chosen.size(); ++i) {
      if (!Covers(chosen[i])) continue;
      const int index = found.points_size();
      v1::AlignPoint* point = found.add_points();
      point->set_index(index);
      point->mutable_cosines()->Assign(cosines[i].begin(), cosines[i].end());
    }
  };
  add(targets_, target_cosines_);
  add(controls_, control_cosines_);
}

}  // namespace sinkd
