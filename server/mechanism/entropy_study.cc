#include "server/mechanism/entropy_study.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "server/base/status.h"

namespace sinkd {
namespace {

// The positions of the window, then those of them that neither are the primary sink nor ever
// become one.
std::vector<std::vector<int64_t>> WindowsOf(const EntropyParameters& entropy,
                                            const SampleRecord& record) {
  std::vector<std::vector<int64_t>> windows(2);
  const std::vector<bool> never = NeverSinks(record);
  const int64_t end = std::min(entropy.end.value_or(record.positions), record.positions);
  for (int64_t t = entropy.first; t < end; ++t) {
    windows[0].push_back(t);
    if (never[Trace::At(t)]) windows[1].push_back(t);
  }
  return windows;
}

}  // namespace

EntropyStudy::EntropyStudy(const StudyParameters& parameters, const EntropyParameters& entropy,
                           const StudyModel& model, std::vector<StudySample> samples)
    : StudyBase(parameters, model, std::move(samples)), entropy_(entropy) {}

std::vector<StudyBase::Phase> EntropyStudy::Plan() {
  rows_.resize(Trace::At(model().info().spec.blocks));
  return {MeasureEachSample(
      "measure", [this](int64_t sample, std::stop_token stop) { return Measure(sample, stop); })};
}

absl::Status EntropyStudy::Measure(int64_t sample, std::stop_token stop) {
  const DetectedSample& found = detected(sample);
  const std::vector<std::vector<int64_t>> windows = WindowsOf(entropy_, found.record);
  SINKD_ASSIGN_OR_RETURN(const auto measured,
                         model().MeasureEntropy(found.sample.ids, windows, entropy_.alpha, stop));
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

Estimate EntropyStudy::Tally::Result(const std::string& missing) const {
  return mean.Result(undefined.empty() ? missing : undefined);
}

StudyFindings EntropyStudy::Findings(const std::string& missing) {
  EntropyReport report;
  for (size_t block = 0; block < rows_.size(); ++block) {
    const Row& row = rows_[block];
    report.rows.push_back({static_cast<int32_t>(block), row.entropy.Result(missing),
                           row.normalized.Result(missing), row.without_sinks.Result(missing)});
  }
  return report;
}

}  // namespace sinkd
