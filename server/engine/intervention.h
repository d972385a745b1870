// Intervention: one sample run once as it is, then once per variant, each from the block of its
// first edit only, since what lies before is the same.
//
// The base pass goes block by block. At block j it holds what goes into it, attn_out and what
// leaves it; a variant that begins there computes what follows attention again for its edited rows
// alone, takes the base's values everywhere else, and runs on from block j + 1, together with the
// other variants that begin at j, as a packed batch of at most kVariantRows rows.
//
// Thread-safety: all functions may be called from any thread; concurrent use of one Model as in
// Model::Run.
// Errors: as Model::Run; INVALID_ARGUMENT for a block, site, position or vector that is out of
// range.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include <absl/status/statusor.h>

#include "server/engine/edits.h"
#include "server/engine/model.h"
#include "server/engine/trace.h"

namespace sinkd {

inline constexpr int64_t kVariantRows = 16384;

// The model's output head, on the device of its embedding; loaded for losses alone. A tied one is
// the embedding itself; any other is read from the checkpoint now. Errors: FAILED_PRECONDITION
// naming the tensor when the checkpoint has none or is gone; RESOURCE_EXHAUSTED when it would not
// fit.
class Head;
absl::StatusOr<std::shared_ptr<const Head>> LoadHead(const Model& model, std::stop_token stop);

struct InterventionRequest {
  TraceRequest trace;
  // Blocks at and past this one need not run: layers there stay zero in the traces of variants. L
  // when absent, and whenever there is a head. The base pass is whole.
  std::optional<int64_t> end_block;
  std::shared_ptr<const Head> head;  // measure losses with it; null: none
};

// What one pass gave.
struct PassOutcome {
  Trace trace;  // of a variant: layers before its first edit are the base's
  // Mean over positions t < T-1 of -ln p(token t+1), in nats; empty without head or for T = 1.
  std::optional<double> loss;
};

struct InterventionOutcome {
  PassOutcome base;
  std::vector<PassOutcome> variants;  // in the order given
  int64_t block_rows = 0;             // positions through blocks that were computed, base included
  int64_t naive_block_rows = 0;       // T * L for the base and each variant
};

absl::StatusOr<InterventionOutcome> Intervene(const Model& model, const TokenIds& ids,
                                              std::span<const Variant> variants,
                                              const InterventionRequest& request,
                                              std::stop_token stop);

}  // namespace sinkd
