#include "server/analysis/level_histogram.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "server/analysis/summary.h"

namespace sinkd {
namespace {

double Share(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

void FillCounts(const std::map<std::pair<Level, SinkKind>, int64_t>& counts, LevelReport& report) {
  for (const auto& [key, count] : counts) {
    report.counts.push_back({key.first, key.second, count});
    switch (key.second) {
      case SinkKind::kPrimary:
        report.primary += count;
        break;
      case SinkKind::kSecondary:
        report.secondary += count;
        break;
      case SinkKind::kNoise:
        report.noise += count;
        break;
    }
  }
}

void FillDiversity(double min_share, LevelReport& report) {
  if (report.secondary == 0) return;
  double entropy = 0;
  int64_t levels = 0;
  for (const LevelCount& count : report.counts) {
    if (count.kind != SinkKind::kSecondary) continue;
    const double share = Share(count.count, report.secondary);
    entropy -= share * std::log(share);
    ++levels;
    if (share >= min_share) ++report.distinct_levels;
  }
  report.entropy = std::max(0.0, entropy);
  if (levels > 1)
    report.normalized_entropy = *report.entropy / std::log(static_cast<double>(levels));
}

}  // namespace

void LevelAccumulator::Token::Merge(const Token& other) {
  count += other.count;
  if (text.empty() || (!other.text.empty() && other.text < text)) text = other.text;
}

void LevelAccumulator::AddSecondary(const Sink& sink, int64_t positions) {
  tokens_[sink.token_id].Merge({sink.token_text, 1});
  const int64_t bin = 10 * int64_t{sink.position} / positions;
  ++position_bins_[static_cast<size_t>(bin)];
}

void LevelAccumulator::Add(const SampleRecord& record) {
  ++samples_;
  positions_ += record.positions;
  if (parameters_.include_primary_position()) {
    ++counts_[{record.primary.level, record.primary.kind}];
  }
  bool secondary = false;
  for (const Sink& sink : record.sinks) {
    ++counts_[{sink.level, sink.kind}];
    if (sink.kind != SinkKind::kSecondary) continue;
    secondary = true;
    AddSecondary(sink, record.positions);
  }
  if (secondary) ++samples_with_secondary_;
}

void LevelAccumulator::MergeSame(const LevelAccumulator& other) {
  for (const auto& [key, count] : other.counts_) counts_[key] += count;
  for (const auto& [id, token] : other.tokens_) tokens_[id].Merge(token);
  for (size_t i = 0; i < position_bins_.size(); ++i) position_bins_[i] += other.position_bins_[i];
  samples_ += other.samples_;
  positions_ += other.positions_;
  samples_with_secondary_ += other.samples_with_secondary_;
}

void LevelAccumulator::Report(SummaryReport& report) const {
  LevelReport& levels = report.levels.emplace();
  FillCounts(counts_, levels);
  FillDiversity(parameters_.min_share(), levels);
  levels.positions = positions_;
  levels.secondary_per_1000_tokens = Share(1000 * levels.secondary, positions_);
  levels.samples_with_secondary = samples_with_secondary_;
  levels.share_of_samples_with_secondary = Share(samples_with_secondary_, samples_);
  for (const auto& [id, token] : tokens_)
    levels.top_tokens.push_back({id, token.text, token.count});
  std::stable_sort(levels.top_tokens.begin(), levels.top_tokens.end(),
                   [](const TokenCount& a, const TokenCount& b) { return a.count > b.count; });
  levels.top_tokens.resize(
      std::min(levels.top_tokens.size(), static_cast<size_t>(parameters_.top_tokens())));
  levels.position_bins = position_bins_;
}

}  // namespace sinkd
