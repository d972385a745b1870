#include "server/analysis/level_histogram.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace sinkd {
namespace {

double Share(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

void FillCounts(const std::map<std::pair<Level, v1::SinkKind>, int64_t>& counts,
                v1::LevelReport& report) {
  std::map<v1::SinkKind, int64_t> of_kind;
  for (const auto& [key, count] : counts) {
    v1::LevelCount& entry = *report.add_counts();
    entry.set_l_start(key.first.l_start);
    entry.set_lifetime(key.first.lifetime);
    entry.set_kind(key.second);
    entry.set_count(count);
    of_kind[key.second] += count;
  }
  report.set_primary(of_kind[v1::SINK_KIND_PRIMARY]);
  report.set_secondary(of_kind[v1::SINK_KIND_SECONDARY]);
  report.set_noise(of_kind[v1::SINK_KIND_NOISE]);
}

void FillDiversity(double min_share, v1::LevelReport& report) {
  double entropy = 0;
  int64_t levels = 0, distinct = 0;
  for (const v1::LevelCount& count : report.counts()) {
    if (count.kind() != v1::SINK_KIND_SECONDARY) continue;
    const double share = Share(count.count(), report.secondary());
    entropy -= share * std::log(share);
    ++levels;
    if (share >= min_share) ++distinct;
  }
  report.set_distinct_levels(distinct);
  if (levels > 0) report.set_entropy(std::max(0.0, entropy));
  if (levels > 1) {
    report.set_normalized_entropy(report.entropy() / std::log(static_cast<double>(levels)));
  }
}

}  // namespace

void LevelAccumulator::Token::Merge(const Token& other) {
  count += other.count;
  if (text.empty() || (!other.text.empty() && other.text < text)) text = other.text;
}

void LevelAccumulator::AddSecondary(const v1::Sink& sink, int64_t positions) {
  tokens_[sink.token_id()].Merge({sink.token_text(), 1});
  const int64_t bin = 10 * int64_t{sink.position()} / positions;
  ++position_bins_[static_cast<size_t>(bin)];
}

void LevelAccumulator::Add(const v1::SampleRecord& record) {
  ++samples_;
  positions_ += record.positions();
  if (parameters_.include_primary_position()) {
    ++counts_[{LevelOf(record.primary()), record.primary().kind()}];
  }
  bool secondary = false;
  for (const v1::Sink& sink : record.sinks()) {
    ++counts_[{LevelOf(sink), sink.kind()}];
    if (!IsSecondary(sink)) continue;
    secondary = true;
    AddSecondary(sink, record.positions());
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

void LevelAccumulator::FillTokens(v1::LevelReport& report) const {
  std::vector<std::pair<int32_t, const Token*>> tokens;
  for (const auto& [id, token] : tokens_) tokens.emplace_back(id, &token);
  std::stable_sort(tokens.begin(), tokens.end(),
                   [](const auto& a, const auto& b) { return a.second->count > b.second->count; });
  tokens.resize(std::min(tokens.size(), static_cast<size_t>(parameters_.top_tokens())));
  for (const auto& [id, token] : tokens) {
    v1::TokenCount& entry = *report.add_top_tokens();
    entry.set_token_id(id);
    entry.set_text(token->text);
    entry.set_count(token->count);
  }
}

void LevelAccumulator::Report(v1::Summary& report) const {
  v1::LevelReport& levels = *report.mutable_levels();
  FillCounts(counts_, levels);
  FillDiversity(parameters_.min_share(), levels);
  levels.set_positions(positions_);
  levels.set_secondary_per_1000_tokens(Share(1000 * levels.secondary(), positions_));
  levels.set_samples_with_secondary(samples_with_secondary_);
  levels.set_share_of_samples_with_secondary(Share(samples_with_secondary_, samples_));
  FillTokens(levels);
  levels.mutable_position_bins()->Assign(position_bins_.begin(), position_bins_.end());
}

}  // namespace sinkd
