#include "server/mechanism/cluster_study.h"

#include <algorithm>
#include <utility>

#include "server/analysis/separation.h"
#include "server/base/status.h"
#include "server/engine/placement.h"
#include "server/mechanism/sites.h"

namespace sinkd {
namespace {

constexpr int64_t kStarts = 10;
constexpr double kPerplexity = 30;

bool Contains(const google::protobuf::RepeatedField<int>& sites, v1::Site site) {
  return std::find(sites.begin(), sites.end(), site) != sites.end();
}

}  // namespace

std::vector<StudyBase::Phase> ClusterStudy::Plan() {
  ChooseTargetsOf(/*any_start=*/false);
  controls_ = ChooseControls(targets_, detected(), draws());
  if (targets_.empty()) return {};
  last_ = cluster().has_block() ? cluster().block() : target_l_start_.value_or(0);
  first_ = static_cast<int32_t>(std::max<int64_t>(0, last_ - cluster().blocks_before()));
  std::vector<Phase> phases;
  const int64_t at_once = BlocksAtOnce();
  for (int64_t first = first_; first <= last_; first += at_once) {
    const int64_t end = std::min<int64_t>(first + at_once, last_ + 1);
    PlanRun(static_cast<int32_t>(first), static_cast<int32_t>(end), phases);
  }
  return phases;
}

std::vector<ClusterStudy::Place> ClusterStudy::PlacesOf(int32_t first, int32_t end) const {
  std::vector<Place> places;
  for (int32_t block = first; block < end; ++block) {
    const auto add = [&](int site) { places.push_back({block, static_cast<v1::Site>(site)}); };
    for (const int site : cluster().sites()) add(site);
    for (const int site : cluster().tsne_sites()) {
      if (!Contains(cluster().sites(), static_cast<v1::Site>(site))) add(site);
    }
  }
  return places;
}

int64_t ClusterStudy::BlocksAtOnce() const {
  const DecoderSpec& spec = model().info().spec;
  const auto positions = static_cast<int64_t>(targets_.size() + controls_.size());
  const auto sites = static_cast<int64_t>(PlacesOf(0, 1).size());
  const int64_t widest = std::max(spec.hidden, spec.intermediate);
  const int64_t bytes = positions * sites * widest * static_cast<int64_t>(sizeof(float));
  return std::max<int64_t>(1, kCaptureBytes / std::max<int64_t>(1, bytes));
}

void ClusterStudy::PlanRun(int32_t first, int32_t end, std::vector<Phase>& phases) {
  const std::vector<Place> places = PlacesOf(first, end);
  std::vector<Place> present;
  for (const Place& place : places) {
    if (HasSite(model().info().spec, DecodeSite(place.site), place.block)) present.push_back(place);
  }
  phases.push_back(ForEachSample("capture", [=, this](int64_t sample, std::stop_token stop) {
    return Capture(present, sample, stop);
  }));
  phases.push_back({"compare", static_cast<int64_t>(places.size()),
                    [=, this](int64_t step, std::stop_token stop) {
                      return Compare(places[static_cast<size_t>(step)], stop);
                    }});
}

absl::Status ClusterStudy::Capture(const std::vector<Place>& places, int64_t sample,
                                   std::stop_token stop) {
  std::vector<int64_t> positions;
  std::vector<size_t> rows;  // of the matrices
  const auto add = [&](const std::vector<ChosenPosition>& chosen, size_t first) {
    for (size_t i = 0; i < chosen.size(); ++i) {
      if (chosen[i].sample != sample) continue;
      positions.push_back(chosen[i].position);
      rows.push_back(first + i);
    }
  };
  add(targets_, 0);
  add(controls_, targets_.size());
  if (positions.empty() || places.empty()) return absl::OkStatus();
  std::vector<CaptureRequest> requests;
  for (const Place& place : places) {
    requests.push_back({DecodeSite(place.site), place.block, positions});
  }
  SINKD_ASSIGN_OR_RETURN(const std::vector<Matrix> captured,
                         model().Capture(detected(sample).sample.ids, requests, stop));
  for (size_t p = 0; p < places.size(); ++p) {
    Matrix& matrix = captured_[places[p]];
    matrix.rows = static_cast<int64_t>(targets_.size() + controls_.size());
    matrix.columns = captured[p].columns;
    matrix.values.resize(Trace::At(matrix.rows * matrix.columns));
    for (size_t i = 0; i < rows.size(); ++i) {
      const std::span<const float> row = captured[p].Row(static_cast<int64_t>(i));
      std::copy(row.begin(), row.end(),
                matrix.values.begin() + static_cast<int64_t>(rows[i]) * matrix.columns);
    }
  }
  return absl::OkStatus();
}

void ClusterStudy::BeginComparing(Place place) {
  const auto captured = captured_.extract(place);
  Comparison& comparison = comparison_.emplace();
  comparison.rows = captured.empty() ? Matrix{} : std::move(captured.mapped());
  comparison.groups.assign(targets_.size(), 1);
  comparison.groups.resize(targets_.size() + controls_.size(), 0);
  comparison.row.set_block(place.block);
  comparison.row.set_site(place.site);
  comparison.row_done = !Contains(cluster().sites(), place.site);
  // A map has a perplexity of at least 1.
  comparison.map_done = !Contains(cluster().tsne_sites(), place.site) || comparison.rows.rows < 4;
}

absl::Status ClusterStudy::Compare(Place place, std::stop_token stop) {
  if (!comparison_) BeginComparing(place);
  Comparison& comparison = *comparison_;
  if (!comparison.row_done) {
    SINKD_RETURN_IF_ERROR(FillRow(comparison, stop));
    if (comparison.row_done) *report_.add_rows() = comparison.row;
  } else if (!comparison.map_done) {
    SINKD_RETURN_IF_ERROR(DrawMap(comparison, stop));
  }
  if (comparison.row_done && comparison.map_done) {
    comparison_.reset();
  } else {
    TakeAnotherTurn();
  }
  return absl::OkStatus();
}

absl::Status ClusterStudy::FillRow(Comparison& comparison, std::stop_token stop) const {
  if (!comparison.clusters) return BeginRow(comparison);
  if (!comparison.clusters->done()) return comparison.clusters->Step(stop);
  if (!comparison.silhouette) {
    comparison.silhouette = StartSilhouette(comparison.rows, comparison.groups);
  }
  if (!comparison.silhouette->done()) return comparison.silhouette->Step(stop);
  const SeparationScore rand = AdjustedRand(comparison.clusters->Take().labels, comparison.groups);
  const SeparationScore silhouette = comparison.silhouette->Take();
  const std::string& undefined = rand.undefined.empty() ? silhouette.undefined : rand.undefined;
  if (undefined.empty()) {
    comparison.row.set_adjusted_rand(rand.value);
    comparison.row.set_silhouette(silhouette.value);
    comparison.row.set_auc(comparison.auc);
  } else {
    comparison.row.set_undefined(undefined);
  }
  comparison.row_done = true;
  return absl::OkStatus();
}

absl::Status ClusterStudy::BeginRow(Comparison& comparison) const {
  SeparationScore auc{.undefined = "the block has no such site"};
  if (comparison.rows.rows > 0) auc = CentroidAuc(comparison.rows, comparison.groups, seed());
  comparison.auc = auc.value;
  comparison.row_done = !auc.undefined.empty();
  if (comparison.row_done) {
    comparison.row.set_undefined(auc.undefined);
    return absl::OkStatus();
  }
  SINKD_ASSIGN_OR_RETURN(comparison.clusters, StartKMeans(comparison.rows, 2, kStarts, seed(),
                                                          HomeDevice(model().info().device)));
  return absl::OkStatus();
}

absl::Status ClusterStudy::DrawMap(Comparison& comparison, std::stop_token stop) {
  const double perplexity =
      std::min(cluster().has_perplexity() ? cluster().perplexity() : kPerplexity,
               static_cast<double>(comparison.rows.rows - 1) / 3);
  if (!comparison.map) {
    SINKD_ASSIGN_OR_RETURN(comparison.map,
                           StartTsne(comparison.rows, {.perplexity = perplexity, .seed = seed()},
                                     HomeDevice(model().info().device)));
  }
  SINKD_RETURN_IF_ERROR(comparison.map->Step(stop));
  comparison.map_done = comparison.map->done();
  if (!comparison.map_done) return absl::OkStatus();
  const TsneResult result = comparison.map->Take();
  v1::TsneMap* map = report_.add_maps();
  map->set_block(comparison.row.block());
  map->set_site(comparison.row.site());
  map->set_perplexity(perplexity);
  map->set_divergence(result.divergence);
  map->mutable_coordinates()->Assign(result.coordinates.values.begin(),
                                     result.coordinates.values.end());
  return absl::OkStatus();
}

v1::DecisionLayer ClusterStudy::DecisionOf(v1::Site site) const {
  v1::DecisionLayer decision;
  decision.set_site(site);
  for (auto row = report_.rows().rbegin(); row != report_.rows().rend(); ++row) {
    if (row->site() != decision.site()) continue;
    if (row->has_undefined() || row->auc() < cluster().separating_auc()) break;
    decision.set_block(row->block());
  }
  return decision;
}

// The earliest block at which any site separates, and at that block the earliest site in a block.
void ClusterStudy::Decide() {
  for (const int site : cluster().sites()) {
    const v1::DecisionLayer decision = DecisionOf(static_cast<v1::Site>(site));
    *report_.add_decision_layers() = decision;
    if (!decision.has_block()) continue;
    const std::pair earliest(report_.decision_layer(), report_.decision_site());
    if (report_.has_decision_layer() && earliest < std::pair(decision.block(), decision.site())) {
      continue;
    }
    report_.set_decision_layer(decision.block());
    report_.set_decision_site(decision.site());
  }
}

void ClusterStudy::AddFindings(const std::string& missing, v1::StudyReport& report) {
  if (report_.rows().empty()) {
    report_.set_undefined(missing.empty() ? "no targets" : missing);
  } else if (missing.empty()) {
    Decide();  // without its last block nothing is known to stay
  }
  *report.mutable_cluster() = report_;
}

}  // namespace sinkd
