// AttentionEditor: the edits of how one sample attends in one block. Internal to the engine.
//
// Thread-safety: const methods may be called from several threads.
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

#include "server/engine/edits.h"
#include "server/engine/forward/attention.h"

namespace sinkd {

class AttentionEditor {
 public:
  // An edit that changes attention and names something; borrowed.
  void Add(const Edit& edit) { edits_.push_back(&edit); }

  // Before Attend: `input` of one sample, as the edits have it.
  void ChangeInput(AttentionInput& input) const;

  // After it: `out` [T, H E], what Attend returned for `input`, as the edits have it.
  at::Tensor ChangeOutput(const AttentionInput& input, at::Tensor out) const;

 private:
  std::vector<const Edit*> edits_;
};

}  // namespace sinkd
