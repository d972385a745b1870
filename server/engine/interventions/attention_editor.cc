#include "server/engine/interventions/attention_editor.h"

#include <algorithm>
#include <limits>

#include <ATen/ATen.h>

namespace sinkd {
namespace {

at::Tensor Index(const std::vector<int64_t>& values, const at::Tensor& beside) {
  return at::tensor(values, at::kLong).to(beside.device());
}

// One past the last query that sees the key.
int64_t EndOfQueries(const AttentionInput& input, int64_t key) {
  int64_t end = input.q.size(0);
  if (input.window > 0) end = std::min(end, key + input.window);
  if (input.chunk > 0) end = std::min(end, key - key % input.chunk + input.chunk);
  return end;
}

}  // namespace

void AttentionEditor::ChangeInput(AttentionInput& input) const {
  const int64_t positions = input.q.size(0);
  const int64_t heads = input.q.size(1);
  for (const Edit* edit : edits_) {
    switch (edit->action) {
      case EditAction::kHideKeys:
        if (!input.hidden.defined()) input.hidden = at::zeros({positions}, input.q.options());
        input.hidden.index_fill_(0, Index(edit->positions, input.q),
                                 -std::numeric_limits<float>::infinity());
        break;
      case EditAction::kZeroValues:
        input.v = input.v.index_fill(0, Index(edit->positions, input.v), 0);
        break;
      case EditAction::kPlusOne: {
        const at::Tensor one = at::zeros({heads}, input.q.options());
        input.sinks = input.sinks.defined() ? at::logaddexp(input.sinks, one) : one;
        break;
      }
      default:
        break;
    }
  }
}

at::Tensor AttentionEditor::ChangeOutput(const AttentionInput& input, at::Tensor out) const {
  const int64_t heads = input.q.size(1);
  const int64_t group = heads / input.v.size(1);
  at::Tensor by_head = out.unflatten(1, {heads, -1});
  for (const Edit* edit : edits_) {
    if (edit->action == EditAction::kZeroHeads) {
      by_head.index_fill_(1, Index(edit->heads, out), 0);
    } else if (edit->action == EditAction::kOneKey) {
      const int64_t key = edit->positions.front();
      const at::Tensor queries = by_head.narrow(0, key, EndOfQueries(input, key) - key);
      for (const int64_t head : edit->heads) {
        queries.select(1, head).copy_(
            input.v[key][head / group].expand_as(queries.select(1, head)));
      }
    }
  }
  return out;
}

}  // namespace sinkd
