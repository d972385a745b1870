// Edits: changes to the value of a site, or to how a block attends, during a forward pass. Token
// swaps, norm steering and ablations are all lists of edits.
//
// A changed copy replaces the value before the taps and the following operations see it, so a value
// that an earlier tap saw never changes.
// Thread-safety: plain values.
#pragma once

#include <cstdint>
#include <vector>

#include "server/engine/site.h"

namespace sinkd {

enum class EditAction {
  kReplace,   // set the rows to `vector`
  kSetNorm,   // set the norm of the rows to `amount`, keep the direction; zero rows stay zero
  kClipNorm,  // reduce norms over `amount` to `amount`
  kAdd,       // add amount * vector to the rows
  kRemove,    // take away the rows' component along `vector`; a zero vector takes nothing
  // These change attention, and have no site.
  kHideKeys,    // no query but the position itself attends to `positions`, in any head
  kZeroValues,  // the values of `positions` count as zero, in all heads
  kZeroHeads,   // what `heads` give counts as zero; the taps see their weights as they are
  kOneKey,      // in `heads`, every query that sees positions[0] gets its value and nothing else;
                // the taps see the weights as they are
  kPlusOne,     // one more in the denominator of every softmax: a key of score 0 without a value.
                // With a distance bias, distances are from the query.
};

constexpr bool ChangesAttention(EditAction action) {
  return action >= EditAction::kHideKeys;
}

struct Edit {
  int64_t block = 0;
  Site site = Site::kMlpOut;       // kAttnOut, kMlpOut or kResidPost
  std::vector<int64_t> positions;  // of the sample, ascending, each once
  EditAction action = EditAction::kReplace;
  std::vector<float> vector;        // [C] for kReplace, kAdd and kRemove
  double amount = 0;                // for kSetNorm, kClipNorm and kAdd
  std::vector<int64_t> heads = {};  // query heads, for kZeroHeads and kOneKey

  // Whether there is nothing that it names.
  bool empty() const {
    if (action == EditAction::kPlusOne) return false;
    return action == EditAction::kZeroHeads ? heads.empty() : positions.empty();
  }
};

// Edits of one sample that apply together. Edits at the same block and site apply in order.
using Variant = std::vector<Edit>;

}  // namespace sinkd
