#include "server/mechanism/entropy_study.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "server/base/status.h"

namespace sinkd {
namespace {

// The positions of the window, then those of them that neither are the primary sink nor ever
// become one.
std::vector<std::vector<int64_t>> WindowsOf(const v1::EntropyParameters& entropy,
                                            const v1::SampleRecord& record) {
  std::vector<std::vector<int64_t>> windows(2);
  const std::vector<bool> never = NeverSinks(record);
  const int64_t end =
      entropy.has_end() ? std::min<int64_t>(entropy.end(), record.positions()) : record.positions();
  for (int64_t t = entropy.first(); t < end; ++t) {
    windows[0].push_back(t);
    if (never[Trace::At(t)]) windows[1].push_back(t);
  }
  return windows;
}

}  // namespace

std::vector<StudyBase::Phase> EntropyStudy::Plan() {
  rows_.resize(Trace::At(model().info().spec.blocks));
  return {MeasureEachSample(
      "measure", [this](int64_t sample, std::stop_token stop) { return Measure(sample, stop); })};
}

absl::Status EntropyStudy::Measure(int64_t sample, std::stop_token stop) {
  const DetectedSample& found = detected(sample);
  const std::vector<std::vector<int64_t>> windows = WindowsOf(entropy(), found.record);
  SINKD_ASSIGN_OR_RETURN(const auto measured, model().MeasureEntropy(found.sample.ids, windows,
                                                                     entropy().alpha(), stop));
  const int64_t rank = std::min(std::ssize(windows[0]), model().info().spec.hidden);
  const auto add = [](Tally& tally, const BlockEntropy& value, double divisor) {
    if (!value.undefined.empty()) {
      tally.undefined = value.undefined;
    } else if (divisor == 0) {
      tally.undefined = "a single row";
    } else {
      tally.mean.Add(value.entropy / divisor);
    }
  };
  for (size_t block = 0; block < rows_.size(); ++block) {
    const BlockEntropy& whole = measured[0][block];
    add(rows_[block].entropy, whole, 1);
    add(rows_[block].normalized, whole, std::log(static_cast<double>(std::max<int64_t>(rank, 1))));
    add(rows_[block].without_sinks, measured[1][block], 1);
  }
  return absl::OkStatus();
}

v1::Estimate EntropyStudy::Tally::Result(const std::string& missing) const {
  return mean.Result(undefined.empty() ? missing : undefined);
}

void EntropyStudy::AddFindings(const std::string& missing, v1::StudyReport& report) {
  v1::EntropyReport& found = *report.mutable_entropy();
  for (const Row& row : rows_) {
    v1::EntropyRow* each = found.add_rows();
    each->set_block(found.rows_size() - 1);
    *each->mutable_entropy() = row.entropy.Result(missing);
    *each->mutable_normalized() = row.normalized.Result(missing);
    *each->mutable_without_sinks() = row.without_sinks.Result(missing);
  }
}

}  // namespace sinkd
