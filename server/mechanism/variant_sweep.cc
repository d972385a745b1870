#include "server/mechanism/variant_sweep.h"

#include <algorithm>

#include "server/base/status.h"

namespace sinkd {
namespace {

int64_t TraceBytes(const DecoderSpec& spec, const TraceRequest& request, int64_t positions) {
  const int64_t per_layer = 2 + kPrimaryCandidates + (request.attention ? 2 * spec.heads : 0);
  return spec.blocks * positions * per_layer * static_cast<int64_t>(sizeof(float));
}

}  // namespace

absl::Status VariantSweep::LoadHead(std::stop_token stop) {
  SINKD_ASSIGN_OR_RETURN(head_, model_.LoadHead(stop));
  return absl::OkStatus();
}

absl::Status VariantSweep::Run(const TokenIds& ids, std::span<const Variant> variants,
                               const InterventionRequest& request, std::stop_token stop,
                               const OnOutcome& on_outcome) {
  const DecoderSpec& spec = model_.info().spec;
  const auto positions = static_cast<int64_t>(ids.size());
  const auto count = static_cast<int64_t>(variants.size());
  const int64_t at_once =
      std::max<int64_t>(1, kTraceBytes / TraceBytes(spec, request.trace, positions));
  int64_t block_rows = 0;
  for (int64_t first = 0; first < count; first += at_once) {
    const auto some = variants.subspan(static_cast<size_t>(first),
                                       static_cast<size_t>(std::min(at_once, count - first)));
    SINKD_ASSIGN_OR_RETURN(const InterventionOutcome outcome,
                           model_.Intervene(ids, some, request, stop));
    for (size_t i = 0; i < some.size(); ++i) {
      on_outcome(first + static_cast<int64_t>(i), outcome.base, outcome.variants[i]);
    }
    block_rows += outcome.block_rows;
  }
  block_rows_ += block_rows;
  naive_block_rows_ += (1 + count) * positions * spec.blocks;
  return absl::OkStatus();
}

sinks::v1::StudyCost VariantSweep::cost() const {
  sinks::v1::StudyCost cost;
  cost.set_block_rows(block_rows_);
  cost.set_naive_block_rows(naive_block_rows_);
  return cost;
}

}  // namespace sinkd
