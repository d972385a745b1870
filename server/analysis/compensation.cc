#include "server/analysis/compensation.h"

#include <algorithm>
#include <span>
#include <tuple>

#include <absl/strings/str_cat.h>

#include "server/analysis/exact_means.h"
#include "server/analysis/regression.h"
#include "server/analysis/weakest_block.h"

namespace sinkd {
namespace {

using SortedSamples = std::vector<const CompensationSample*>;

// By the curves' values, then by the window.
bool Before(const CompensationSample* a, const CompensationSample* b) {
  constexpr CompensationCurve kCurves[] = {
      &v1::CompensationCurves::primary, &v1::CompensationCurves::secondary,
      &v1::CompensationCurves::rest, &v1::CompensationCurves::primary_norm};
  for (const CompensationCurve curve : kCurves) {
    const std::span<const float> of_a = a->Curve(curve), of_b = b->Curve(curve);
    const auto order =
        std::lexicographical_compare_three_way(of_a.begin(), of_a.end(), of_b.begin(), of_b.end());
    if (order != 0) return order < 0;
  }
  return std::tie(a->window.start, a->window.end) < std::tie(b->window.start, b->window.end);
}

SortedSamples Sorted(const std::vector<CompensationSample>& samples) {
  SortedSamples sorted;
  for (const CompensationSample& sample : samples) sorted.push_back(&sample);
  std::sort(sorted.begin(), sorted.end(), Before);
  return sorted;
}

std::vector<double> Means(const SortedSamples& samples, CompensationCurve curve) {
  ExactMeans means;
  for (const CompensationSample* sample : samples) means.Add(sample->Curve(curve));
  return means.Means();
}

void Write(const Interval& interval, v1::Interval& out) {
  out.set_lower(interval.lower);
  out.set_upper(interval.upper);
}

void FillBlocks(const SortedSamples& samples, const CompensationIntervals& intervals,
                v1::CompensationReport& report) {
  const std::vector<double> primary = Means(samples, &v1::CompensationCurves::primary);
  const std::vector<double> secondary = Means(samples, &v1::CompensationCurves::secondary);
  const std::vector<double> rest = Means(samples, &v1::CompensationCurves::rest);
  const std::vector<double> norm = Means(samples, &v1::CompensationCurves::primary_norm);
  for (const double mean : norm) report.add_blocks()->set_primary_norm(mean);
  const std::vector<int32_t>& attending = samples[0]->blocks;
  for (size_t i = 0; i < attending.size(); ++i) {
    v1::BlockCompensation& block = *report.mutable_blocks(attending[i]);
    block.set_primary(primary[i]);
    block.set_secondary(secondary[i]);
    block.set_rest(rest[i]);
    if (intervals.draws == 0) continue;
    Write(intervals.primary[i], *block.mutable_primary_interval());
    Write(intervals.secondary[i], *block.mutable_secondary_interval());
  }
}

void FillCorrelations(const SortedSamples& samples, const CompensationIntervals& intervals,
                      v1::CompensationReport& report) {
  std::vector<double> primary, secondary;
  for (const CompensationSample* sample : samples) {
    for (size_t i = 0; i < sample->blocks.size(); ++i) {
      if (!sample->InWindow(i)) continue;
      primary.push_back(sample->Curve(&v1::CompensationCurves::primary)[i]);
      secondary.push_back(sample->Curve(&v1::CompensationCurves::secondary)[i]);
    }
  }
  *report.mutable_pearson() = Pearson(primary, secondary);
  *report.mutable_spearman() = Spearman(primary, secondary);
  // The blocks of a sample depend on each other.
  report.mutable_pearson()->clear_p();
  report.mutable_spearman()->clear_p();
  if (!report.pearson().has_undefined() && intervals.pearson) {
    Write(*intervals.pearson, *report.mutable_pearson_interval());
    report.mutable_pearson()->set_p(*intervals.pearson_p);
  }
  if (!report.spearman().has_undefined() && intervals.spearman) {
    Write(*intervals.spearman, *report.mutable_spearman_interval());
    report.mutable_spearman()->set_p(*intervals.spearman_p);
  }
}

}  // namespace

void CompensationAccumulator::Add(const v1::SampleRecord& record) {
  if (!record.has_compensation()) return;
  CompensationSample& sample = samples_.emplace_back(
      CompensationSample{.window = {record.window_start(), record.window_end()},
                         .blocks = {},
                         .curves = record.compensation()});
  for (int64_t i = 0; i < AttentionBlockCount(record); ++i) {
    sample.blocks.push_back(AttentionBlock(record, i));
  }
  const std::optional<int32_t> weakest = WeakestBlock(record);
  if (!weakest) return;
  ++weakest_block_[*weakest];
  for (const v1::Sink& sink : record.sinks()) {
    if (IsSecondary(sink)) ++start_minus_weakest_[sink.l_start() - *weakest];
  }
}

void CompensationAccumulator::MergeSame(const CompensationAccumulator& other) {
  samples_.insert(samples_.end(), other.samples_.begin(), other.samples_.end());
  for (const auto& [block, count] : other.weakest_block_) weakest_block_[block] += count;
  for (const auto& [distance, count] : other.start_minus_weakest_) {
    start_minus_weakest_[distance] += count;
  }
}

void CompensationAccumulator::Report(v1::Summary& report) const {
  v1::CompensationReport& compensation = *report.mutable_compensation();
  compensation.set_samples(static_cast<int64_t>(samples_.size()));
  compensation.mutable_weakest_block()->insert(weakest_block_.begin(), weakest_block_.end());
  compensation.mutable_start_minus_weakest()->insert(start_minus_weakest_.begin(),
                                                     start_minus_weakest_.end());
  const SortedSamples sorted = Sorted(samples_);
  const CompensationIntervals intervals = Bootstrap(parameters_, sorted);
  if (!sorted.empty()) FillBlocks(sorted, intervals, compensation);
  FillCorrelations(sorted, intervals, compensation);
  if (intervals.draws > 0 && intervals.draws < parameters_.bootstrap_samples()) {
    report.add_notes(absl::StrCat("compensation: ", intervals.draws, " of ",
                                  parameters_.bootstrap_samples(),
                                  " bootstrap draws were made, to bound the work"));
  }
}

}  // namespace sinkd
