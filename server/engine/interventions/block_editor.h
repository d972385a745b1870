// BlockEditor: the edits of one block over one group of rows. Internal to the engine.
//
// Thread-safety: const methods may be called from several threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

#include "server/engine/edits.h"
#include "server/engine/forward/row_group.h"
#include "server/engine/interventions/attention_editor.h"

namespace sinkd {

class BlockEditor {
 public:
  // `edits`: of each sample of the batch that `group` is a part of; borrowed.
  BlockEditor(std::span<const Variant* const> edits, int64_t block, const RowGroup& group);

  // `rows` [n, C] float32 of the group, from `first_row` on, edited: a copy, or `rows` itself where
  // there is nothing to change.
  at::Tensor Apply(Site site, const at::Tensor& rows, int64_t first_row) const;

  // Whether how any sample attends is changed.
  bool ChangesAttention() const;
  // The changes to how one sample of the group attends.
  AttentionEditor Attention(int64_t sample) const;

 private:
  struct Placed {
    const Edit* edit;
    int64_t sample;     // in the group
    int64_t first_row;  // of its sample in the group
  };
  std::vector<Placed> edits_;
};

}  // namespace sinkd
