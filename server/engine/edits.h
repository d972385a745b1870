// Edits: changes made to a site inside the one forward pass. Swapping tokens and steering norms are
// both lists of edits.
//
// The site's value is replaced by a changed copy before it is shown to the taps and read by what
// follows, so that what an earlier tap was shown never changes.
// Thread-safety: plain values.
#pragma once

#include <cstdint>
#include <vector>

#include "server/engine/site.h"

namespace sinkd {

enum class EditAction {
  kReplace,   // the rows become `vector`
  kSetNorm,   // the rows get the norm `amount`, direction kept; a zero row stays zero
  kClipNorm,  // rows longer than `amount` get that norm
  kAdd,       // amount * vector is added to the rows
};

struct Edit {
  int64_t block = 0;
  Site site = Site::kMlpOut;       // kAttnOut, kMlpOut or kResidPost
  std::vector<int64_t> positions;  // of the sample, ascending, each once
  EditAction action = EditAction::kReplace;
  std::vector<float> vector;  // [C] of kReplace and kAdd
  double amount = 0;          // of kSetNorm, kClipNorm and kAdd
};

// Edits of one sample that run together. Those at the same block and site apply in order.
using Variant = std::vector<Edit>;

}  // namespace sinkd
