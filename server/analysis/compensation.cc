#include "server/analysis/compensation.h"

#include <algorithm>
#include <tuple>

#include <absl/strings/str_cat.h>

#include "server/analysis/exact_sum.h"
#include "server/analysis/summary.h"
#include "server/analysis/weakest_block.h"

namespace sinkd {
namespace {

using SortedSamples = std::vector<const CompensationSample*>;

SortedSamples Sorted(const std::vector<CompensationSample>& samples) {
  SortedSamples sorted;
  for (const CompensationSample& sample : samples) sorted.push_back(&sample);
  const auto key = [](const CompensationSample* s) {
    return std::tie(s->curves.primary, s->curves.secondary, s->curves.rest, s->curves.primary_norm,
                    s->window.start, s->window.end);
  };
  std::sort(sorted.begin(), sorted.end(),
            [&](const auto* a, const auto* b) { return key(a) < key(b); });
  return sorted;
}

std::vector<double> Means(const SortedSamples& samples,
                          std::vector<float> CompensationCurves::*curve) {
  std::vector<ExactSum> sums((samples[0]->curves.*curve).size());
  for (const CompensationSample* sample : samples) {
    const std::vector<float>& values = sample->curves.*curve;
    for (size_t l = 0; l < sums.size(); ++l) sums[l].Add(static_cast<double>(values[l]));
  }
  std::vector<double> means;
  for (const ExactSum& sum : sums) {
    means.push_back(sum.value() / static_cast<double>(samples.size()));
  }
  return means;
}

void FillBlocks(const SortedSamples& samples, const CompensationIntervals& intervals,
                CompensationReport& report) {
  const std::vector<double> primary = Means(samples, &CompensationCurves::primary);
  const std::vector<double> secondary = Means(samples, &CompensationCurves::secondary);
  const std::vector<double> rest = Means(samples, &CompensationCurves::rest);
  const std::vector<double> norm = Means(samples, &CompensationCurves::primary_norm);
  for (const double mean : norm) report.blocks.push_back({.primary_norm = mean});
  const std::vector<int32_t>& attending = samples[0]->blocks;
  for (size_t i = 0; i < attending.size(); ++i) {
    BlockCompensation& block = report.blocks[static_cast<size_t>(attending[i])];
    block.primary = primary[i];
    block.secondary = secondary[i];
    block.rest = rest[i];
    if (intervals.draws == 0) continue;
    block.primary_interval = intervals.primary[i];
    block.secondary_interval = intervals.secondary[i];
  }
}

void FillCorrelations(const SortedSamples& samples, const CompensationIntervals& intervals,
                      CompensationReport& report) {
  std::vector<double> primary, secondary;
  for (const CompensationSample* sample : samples) {
    for (size_t i = 0; i < sample->blocks.size(); ++i) {
      if (!sample->InWindow(i)) continue;
      primary.push_back(sample->curves.primary[i]);
      secondary.push_back(sample->curves.secondary[i]);
    }
  }
  report.pearson = Pearson(primary, secondary);
  report.spearman = Spearman(primary, secondary);
  if (report.pearson.undefined.empty()) report.pearson_interval = intervals.pearson;
  if (report.spearman.undefined.empty()) report.spearman_interval = intervals.spearman;
}

}  // namespace

void CompensationAccumulator::Add(const SampleRecord& record) {
  if (!record.compensation) return;
  CompensationSample& sample =
      samples_.emplace_back(CompensationSample{.window = {record.window_start, record.window_end},
                                               .blocks = {},
                                               .curves = *record.compensation});
  for (int64_t i = 0; i < record.AttentionBlocks(); ++i) {
    sample.blocks.push_back(record.AttentionBlock(i));
  }
  const std::optional<int32_t> weakest = WeakestBlock(record);
  if (!weakest) return;
  ++weakest_block_[*weakest];
  for (const Sink& sink : record.sinks) {
    if (sink.kind == SinkKind::kSecondary) ++start_minus_weakest_[sink.level.l_start - *weakest];
  }
}

void CompensationAccumulator::MergeSame(const CompensationAccumulator& other) {
  samples_.insert(samples_.end(), other.samples_.begin(), other.samples_.end());
  for (const auto& [block, count] : other.weakest_block_) weakest_block_[block] += count;
  for (const auto& [distance, count] : other.start_minus_weakest_) {
    start_minus_weakest_[distance] += count;
  }
}

void CompensationAccumulator::Report(SummaryReport& report) const {
  CompensationReport& compensation = report.compensation.emplace();
  compensation.samples = static_cast<int64_t>(samples_.size());
  compensation.weakest_block = weakest_block_;
  compensation.start_minus_weakest = start_minus_weakest_;
  const SortedSamples sorted = Sorted(samples_);
  const CompensationIntervals intervals = Bootstrap(parameters_, sorted);
  if (!sorted.empty()) FillBlocks(sorted, intervals, compensation);
  FillCorrelations(sorted, intervals, compensation);
  if (intervals.draws > 0 && intervals.draws < parameters_.bootstrap_samples()) {
    report.notes.push_back(absl::StrCat("compensation: ", intervals.draws, " of ",
                                        parameters_.bootstrap_samples(),
                                        " bootstrap draws were made, to bound the work"));
  }
}

}  // namespace sinkd
