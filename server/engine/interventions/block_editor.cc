#include "server/engine/interventions/block_editor.h"

#include <algorithm>
#include <limits>

#include <ATen/ATen.h>

namespace sinkd {
namespace {

// Of a vector that points somewhere.
constexpr float kSmallest = std::numeric_limits<float>::min();

at::Tensor Changed(const Edit& edit, const at::Tensor& rows) {
  const at::Tensor vector =
      edit.vector.empty() ? at::Tensor() : at::tensor(edit.vector).to(rows.device());
  if (edit.action == EditAction::kReplace) return vector.expand_as(rows);
  if (edit.action == EditAction::kAdd) return rows + vector * edit.amount;
  if (edit.action == EditAction::kRemove) {
    const at::Tensor direction = vector / vector.norm().clamp_min(kSmallest);
    return rows - at::mv(rows, direction).unsqueeze(1) * direction;
  }
  const at::Tensor norms = at::linalg_vector_norm(rows, 2, at::IntArrayRef{1}, /*keepdim=*/true);
  const double least = edit.action == EditAction::kClipNorm ? edit.amount : 0;
  return rows * at::where(norms > least, edit.amount / norms, at::ones_like(norms));
}

}  // namespace

BlockEditor::BlockEditor(std::span<const Variant* const> edits, int64_t block,
                         const RowGroup& group) {
  for (int64_t s = 0; s < group.samples(); ++s) {
    for (const Edit& edit : *edits[static_cast<size_t>(group.first_sample + s)]) {
      if (edit.block == block) edits_.push_back({&edit, s, group.begin(s)});
    }
  }
}

bool BlockEditor::ChangesAttention() const {
  return std::any_of(edits_.begin(), edits_.end(), [](const Placed& placed) {
    return sinkd::ChangesAttention(placed.edit->action);
  });
}

AttentionEditor BlockEditor::Attention(int64_t sample) const {
  AttentionEditor editor;
  for (const Placed& placed : edits_) {
    const bool changes = sinkd::ChangesAttention(placed.edit->action) && !placed.edit->empty();
    if (placed.sample == sample && changes) editor.Add(*placed.edit);
  }
  return editor;
}

at::Tensor BlockEditor::Apply(Site site, const at::Tensor& rows, int64_t first_row) const {
  at::Tensor edited = rows;
  for (const Placed& placed : edits_) {
    const Edit& edit = *placed.edit;
    if (edit.site != site || sinkd::ChangesAttention(edit.action)) continue;
    std::vector<int64_t> chosen;
    for (const int64_t position : edit.positions) {
      const int64_t row = placed.first_row + position - first_row;
      if (row >= 0 && row < rows.size(0)) chosen.push_back(row);
    }
    if (chosen.empty()) continue;
    const at::Tensor index = at::tensor(chosen, at::kLong).to(rows.device());
    // What was shown or is still read elsewhere stays as it was.
    edited = edited.index_copy(0, index, Changed(edit, edited.index_select(0, index)));
  }
  return edited;
}

}  // namespace sinkd
