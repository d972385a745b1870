#include "server/mechanism/massive_study.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "server/base/status.h"
#include "server/mechanism/estimates.h"

namespace sinkd {

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
                         model().FindLargeEntries(found.sample.ids, massive().top(), rest, stop));
  for (size_t block = 0; block < overall_.size(); ++block) {
    v1::MassiveRow row = MakeRow(sample, static_cast<int32_t>(block), blocks[block]);
    Merge(row);
    if (massive().per_sample()) per_sample_.push_back(std::move(row));
  }
  return absl::OkStatus();
}

v1::MassiveRow MassiveStudy::MakeRow(int64_t sample, int32_t block,
                                     const BlockEntries& entries) const {
  const StudySample& source = detected(sample).sample;
  v1::MassiveRow row;
  row.set_block(block);
  row.set_sample_index(source.index);
  for (const LargeEntry& entry : entries.largest) {
    const int32_t token = source.ids[Trace::At(entry.position)];
    v1::MassiveEntry* each = row.add_entries();
    each->set_sample_index(source.index);
    each->set_position(static_cast<int32_t>(entry.position));
    each->set_token_id(token);
    each->set_token_text(model().TokenText(token));
    each->set_channel(static_cast<int32_t>(entry.channel));
    each->set_value(entry.value);
  }
  row.set_median(entries.median);
  row.set_largest_of_rest(entries.largest_of_rest);
  return row;
}

void MassiveStudy::Merge(const v1::MassiveRow& row) {
  const auto block = static_cast<size_t>(row.block());
  v1::MassiveRow& overall = overall_[block];
  overall.set_block(row.block());
  overall.mutable_entries()->MergeFrom(row.entries());
  // Stable, so that of equal entries the first sample's comes first.
  std::stable_sort(overall.mutable_entries()->begin(), overall.mutable_entries()->end(),
                   [](const v1::MassiveEntry& a, const v1::MassiveEntry& b) {
                     return std::fabs(a.value()) > std::fabs(b.value());
                   });
  const int most = static_cast<int>(massive().top());
  if (overall.entries_size() > most) {
    overall.mutable_entries()->DeleteSubrange(most, overall.entries_size() - most);
  }
  overall.set_largest_of_rest(std::max(overall.largest_of_rest(), row.largest_of_rest()));
  medians_[block].push_back(row.median());
}

void MassiveStudy::AddFindings(const std::string&, v1::StudyReport& report) {
  v1::MassiveReport& found = *report.mutable_massive();
  for (size_t block = 0; block < overall_.size(); ++block) {
    if (medians_[block].empty()) continue;
    overall_[block].set_median(Median(medians_[block]));
    *found.add_rows() = overall_[block];
  }
  for (v1::MassiveRow& row : per_sample_) *found.add_rows() = std::move(row);
}

}  // namespace sinkd
