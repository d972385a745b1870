#include "server/mechanism/massive_study.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "server/base/status.h"
#include "server/mechanism/estimates.h"

namespace sinkd {

MassiveStudy::MassiveStudy(const StudyParameters& parameters, const MassiveParameters& massive,
                           const StudyModel& model, std::vector<StudySample> samples)
    : StudyBase(parameters, model, std::move(samples)), massive_(massive) {}

std::vector<StudyBase::Phase> MassiveStudy::Plan() {
  overall_.resize(Trace::At(model().info().spec.blocks));
  medians_.resize(overall_.size());
  return {MeasureEachSample(
      "measure", [this](int64_t sample, std::stop_token stop) { return Measure(sample, stop); })};
}

absl::Status MassiveStudy::Measure(int64_t sample, std::stop_token stop) {
  const DetectedSample& found = detected(sample);
  const std::vector<bool> never = NeverSinks(found.record);
  std::vector<int64_t> rest;
  for (size_t t = 0; t < never.size(); ++t) {
    if (never[t]) rest.push_back(static_cast<int64_t>(t));
  }
  SINKD_ASSIGN_OR_RETURN(const std::vector<BlockEntries> blocks,
                         model().FindLargeEntries(found.sample.ids, massive_.top, rest, stop));
  for (size_t block = 0; block < overall_.size(); ++block) {
    MassiveRow row = MakeRow(sample, static_cast<int32_t>(block), blocks[block]);
    Merge(row);
    if (massive_.per_sample) per_sample_.push_back(std::move(row));
  }
  return absl::OkStatus();
}

MassiveRow MassiveStudy::MakeRow(int64_t sample, int32_t block, const BlockEntries& entries) const {
  const StudySample& source = detected(sample).sample;
  MassiveRow row{.block = block,
                 .sample_index = source.index,
                 .median = entries.median,
                 .largest_of_rest = entries.largest_of_rest};
  for (const LargeEntry& entry : entries.largest) {
    const int32_t token = source.ids[Trace::At(entry.position)];
    row.entries.push_back({source.index, static_cast<int32_t>(entry.position), token,
                           model().TokenText(token), static_cast<int32_t>(entry.channel),
                           entry.value});
  }
  return row;
}

void MassiveStudy::Merge(const MassiveRow& row) {
  const auto block = static_cast<size_t>(row.block);
  MassiveRow& overall = overall_[block];
  overall.block = row.block;
  overall.entries.insert(overall.entries.end(), row.entries.begin(), row.entries.end());
  // Stable, so that of equal entries the first sample's comes first.
  std::stable_sort(overall.entries.begin(), overall.entries.end(),
                   [](const MassiveEntry& a, const MassiveEntry& b) {
                     return std::fabs(a.value) > std::fabs(b.value);
                   });
  if (std::ssize(overall.entries) > massive_.top) overall.entries.resize(Trace::At(massive_.top));
  overall.largest_of_rest = std::max(overall.largest_of_rest, row.largest_of_rest);
  medians_[block].push_back(row.median);
}

StudyFindings MassiveStudy::Findings(const std::string&) {
  MassiveReport report;
  for (size_t block = 0; block < overall_.size(); ++block) {
    if (medians_[block].empty()) continue;
    MassiveRow row = overall_[block];
    row.median = Median(medians_[block]);
    report.rows.push_back(std::move(row));
  }
  report.rows.insert(report.rows.end(), per_sample_.begin(), per_sample_.end());
  return report;
}

}  // namespace sinkd
