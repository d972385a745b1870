#include "server/audit/sample_facts.h"

#include <algorithm>

#include "server/analysis/weakest_block.h"

namespace sinkd {
namespace {

using Number = std::optional<double>;

// The layer of the primary sink's window with the least norm of its state; the first of several.
// CheckRecord has seen that curves are as long as there are layers.
std::optional<int32_t> WeakestLayer(const v1::SampleRecord& record) {
  if (!record.has_compensation() || record.window_start() >= record.window_end()) {
    return std::nullopt;
  }
  const auto& norms = record.compensation().primary_norm();
  if (norms.size() < record.window_end()) return std::nullopt;
  const auto least =
      std::min_element(norms.begin() + record.window_start(), norms.begin() + record.window_end());
  return static_cast<int32_t>(least - norms.begin());
}

Number WeakestNorm(const AuditedSample& sample) {
  if (sample.record == nullptr) return std::nullopt;
  const std::optional<int32_t> layer = WeakestLayer(*sample.record);
  if (!layer) return std::nullopt;
  return sample.record->compensation().primary_norm(*layer);
}

Number WeakestAttention(const AuditedSample& sample) {
  if (sample.record == nullptr) return std::nullopt;
  const std::optional<int32_t> block = WeakestBlock(*sample.record);
  if (!block) return std::nullopt;
  int place = 0;  // among the blocks with attention
  while (AttentionBlock(*sample.record, place) != *block) ++place;
  return sample.record->compensation().primary(place);
}

bool HasSecondary(const v1::SampleRecord& record) {
  return std::any_of(record.sinks().begin(), record.sinks().end(), IsSecondary);
}

constexpr SampleNumber kNumbers[] = {
    {"primary_score", "mean score of the primary sink",
     [](const AuditedSample& sample) {
       return sample.record == nullptr ? Number() : ScoreOf(sample.record->primary());
     }},
    {"primary_norm", "mean norm of the primary sink's state where it starts",
     [](const AuditedSample& sample) {
       return sample.record == nullptr ? Number() : Number(sample.record->primary().state_norm());
     }},
    {"weakest_primary_attention",
     "mean over samples of the least attention to the primary sink in a block that reads its "
     "window",
     WeakestAttention},
    {"weakest_primary_norm",
     "mean over samples of the least norm of the primary sink in a layer of its window",
     WeakestNorm},
    {"samples_with_secondary", "share of samples with a secondary sink",
     [](const AuditedSample& sample) {
       return sample.record == nullptr ? Number() : Number(HasSecondary(*sample.record) ? 1 : 0);
     }},
    {"undecided_share", "share of samples whose sinks are not sure at bfloat16",
     [](const AuditedSample& sample) {
       return sample.record == nullptr ? Number() : Number(sample.record->undecided() ? 1 : 0);
     }},
    {"failed_share", "share of samples that could not be analysed",
     [](const AuditedSample& sample) { return Number(sample.record == nullptr ? 1 : 0); }},
    {"non_finite_share", "share of samples that met a value that is not finite",
     [](const AuditedSample& sample) { return Number(sample.non_finite ? 1 : 0); }},
};

constexpr SampleLayer kLayers[] = {
    {"weakest_attention_layer", "block that pays the primary sink the least attention",
     WeakestBlock},
    {"weakest_norm_layer", "layer where the primary sink's norm is least", WeakestLayer},
};

}  // namespace

std::span<const SampleNumber> SampleNumbers() {
  return kNumbers;
}

std::span<const SampleLayer> SampleLayers() {
  return kLayers;
}

}  // namespace sinkd
