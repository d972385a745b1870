// Intervention: runs one sample once unmodified (the base pass), and then once per variant. A
// variant runs only from the block of its first edit on, because everything before is the same.
//
// The base pass goes block by block. At block j, the block's input, attn_out and output are in
// memory. A variant that starts at j recomputes what follows attention for its edited rows only and
// takes the base's values for all other rows. It then continues from block j + 1, together with the
// other variants that start at j, as a packed batch of at most kVariantRows rows. One that edits
// how block j attends continues from block j itself.
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

// The model's output head, on the device of its embedding; needed only for losses. A tied head is
// the embedding itself; an untied head is read from the checkpoint by this call. Errors:
// FAILED_PRECONDITION, naming the tensor, if the checkpoint has no head or does not exist any more;
// RESOURCE_EXHAUSTED if the head does not fit.
class Head;
absl::StatusOr<std::shared_ptr<const Head>> LoadHead(const Model& model, std::stop_token stop);

struct InterventionRequest {
  TraceRequest trace;
  // Variants stop before this block, and their traces are zero in the layers from it on. Default,
  // and always with a head: L. The base pass always runs all blocks.
  std::optional<int64_t> end_block;
  std::shared_ptr<const Head> head;  // to measure losses; null: no losses
  // Also what each pass predicts, position by position. Needs a head, and one more pass before the
  // base's, which what variants predict is compared with.
  bool predictions = false;
};

// Of the positions t < T-1, whose next token is known.
struct Predictions {
  std::vector<double> losses;      // -ln p(token t+1), in nats
  std::vector<int64_t> choices;    // the most likely token, the lowest id of equals
  std::vector<double> divergence;  // KL(base || this pass) of the next token, in nats; empty: base
};

// The result of one pass.
struct PassOutcome {
  Trace trace;  // for a variant, the layers before its first edit are those of the base
  // Mean over positions t < T-1 of -ln p(token t+1), in nats; empty without head or for T = 1.
  std::optional<double> loss;
  Predictions predictions;  // when asked for
};

struct InterventionOutcome {
  PassOutcome base;
  std::vector<PassOutcome> variants;  // in the order given
  int64_t block_rows = 0;             // computed (position, block) pairs, including the base
  int64_t naive_block_rows = 0;       // T * L for the base and each variant, and nothing else
};

absl::StatusOr<InterventionOutcome> Intervene(const Model& model, const TokenIds& ids,
                                              std::span<const Variant> variants,
                                              const InterventionRequest& request,
                                              std::stop_token stop);

}  // namespace sinkd
