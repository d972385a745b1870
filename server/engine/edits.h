// Edits: changes to the value of a site during a forward pass. Token swaps and norm steering are
// both lists of edits.
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
};

struct Edit {
  int64_t block = 0;
  Site site = Site::kMlpOut;       // kAttnOut, kMlpOut or kResidPost
  std::vector<int64_t> positions;  // of the sample, ascending, each once
  EditAction action = EditAction::kReplace;
  std::vector<float> vector;  // [C] for kReplace and kAdd
  double amount = 0;          // for kSetNorm, kClipNorm and kAdd
};

// Edits of one sample that apply together. Edits at the same block and site apply in order.
using Variant = std::vector<Edit>;

}  // namespace sinkd
