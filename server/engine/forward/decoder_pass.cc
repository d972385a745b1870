#include "server/engine/forward/decoder_pass.h"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "server/base/status.h"
#include "server/base/work_beat.h"
#include "server/engine/forward/block_pass.h"
#include "server/engine/forward/linear.h"
#include "server/engine/forward/norm.h"
#include "server/engine/forward/piece_sizes.h"

namespace sinkd {
namespace {

// What the blocks read, [rows, C] float32 whatever the weights are: beside a sink of norm 25,000 a
// bfloat16 stream would round everything that later blocks write to the nearest hundred.
at::Tensor Embed(const DecoderSpec& spec, const OuterWeights& outer, const at::Tensor& ids,
                 const RowGroup& group) {
  at::Tensor x = at::embedding(outer.embedding, ids.narrow(0, group.first_row, group.rows()));
  if (outer.project_in.defined()) x = Linear(x, outer.project_in);
  x = x.to(at::kFloat) * spec.embedding_scale;
  if (spec.embedding_norm) x = Normalize(spec.norm, x, outer.embedding_norm, spec.norm_epsilon);
  if (!outer.positions.defined()) return x;
  std::vector<at::Tensor> rows;
  for (int64_t s = 0; s < group.samples(); ++s) {
    rows.push_back(outer.positions.narrow(0, spec.position_offset, group.length(s)));
  }
  return x + at::cat(rows).to(at::kFloat);
}

// The further inputs of all blocks, [rows, L, width] float32, with what the first block reads;
// undefined where there are none.
at::Tensor TokenInputs(const DecoderSpec& spec, const OuterWeights& outer, const at::Tensor& ids,
                       const RowGroup& group, const at::Tensor& x) {
  const int64_t width = spec.token_inputs.width;
  if (width == 0) return {};
  const auto by_block = [&](const at::Tensor& rows) {
    return rows.to(at::kFloat).unflatten(1, {spec.blocks, width});
  };
  const at::Tensor own =
      by_block(at::embedding(outer.token_inputs, ids.narrow(0, group.first_row, group.rows())));
  const at::Tensor projected =
      by_block(Linear(x.to(outer.token_projection.scalar_type()), outer.token_projection));
  const at::Tensor scaled = projected / std::sqrt(static_cast<double>(spec.hidden));
  const at::Tensor normed = Normalize(spec.norm, scaled, outer.token_norm, spec.norm_epsilon);
  return (normed + own * std::sqrt(static_cast<double>(width))) * std::sqrt(0.5);
}

// `rows` of one sample, once for each of so many.
at::Tensor Repeated(const at::Tensor& rows, int64_t samples) {
  if (!rows.defined() || samples == 1) return rows;
  return at::cat(std::vector<at::Tensor>(static_cast<size_t>(samples), rows));
}

at::Tensor FinalState(const DecoderSpec& spec, const OuterWeights& outer, const at::Tensor& x) {
  const at::Tensor here = x.to(outer.embedding.device());
  const at::Tensor normed = Normalize(spec.norm, here, outer.final_norm, spec.norm_epsilon);
  if (!outer.project_out.defined()) return normed;
  return Linear(normed, outer.project_out.to(at::kFloat));
}

}  // namespace

DecoderPass::DecoderPass(const DecoderSpec& spec, const OuterWeights& outer,
                         const PackedBatch& batch)
    : spec_(spec), outer_(outer), groups_(GroupRows(batch.offsets, kGroupRows)) {
  for (const RowGroup& group : groups_) {
    states_.push_back(Embed(spec, outer, batch.ids, group));
    shared_.push_back({.token_inputs = TokenInputs(spec, outer, batch.ids, group, states_.back()),
                       .keys_and_values = {}});
  }
}

DecoderPass::DecoderPass(const DecoderPass& base, std::span<const at::Tensor> samples)
    : spec_(base.spec_), outer_(base.outer_) {
  std::vector<int64_t> offsets = {0};
  for (const at::Tensor& sample : samples) offsets.push_back(offsets.back() + sample.size(0));
  groups_ = GroupRows(offsets, kGroupRows);
  for (const RowGroup& group : groups_) {
    const auto of_group = samples.subspan(static_cast<size_t>(group.first_sample),
                                          static_cast<size_t>(group.samples()));
    states_.push_back(at::cat(std::vector<at::Tensor>(of_group.begin(), of_group.end())));
    const SharedRows& of_base = base.shared_.front();
    SharedRows& shared = shared_.emplace_back();
    shared.token_inputs = Repeated(of_base.token_inputs, group.samples());
    for (const auto& [block, rows] : of_base.keys_and_values) {
      shared.keys_and_values[block] = {Repeated(rows.first, group.samples()),
                                       Repeated(rows.second, group.samples())};
    }
  }
}

absl::Status DecoderPass::RunBlock(const BlockWeights& weights, int64_t block,
                                   std::span<const Variant* const> edits, TapObserver& observer,
                                   const std::stop_token& stop) {
  const at::Device device = weights.options.device();
  for (size_t g = 0; g < groups_.size(); ++g) {
    Beat();
    if (stop.stop_requested()) return Cancelled("the analysis was cancelled");
    std::optional<BlockEditor> editor;
    if (!edits.empty()) editor.emplace(edits, block, groups_[g]);
    const BlockPass pass(spec_, weights, block, groups_[g], shared_[g], RopeOn(device), observer,
                         editor ? &*editor : nullptr);
    at::Tensor x = std::exchange(states_[g], {}).to(device);
    states_[g] = pass.Run(std::move(x));
  }
  return absl::OkStatus();
}

at::Tensor DecoderPass::JoinRows(const BlockWeights& weights, int64_t block,
                                 const at::Tensor& positions, const at::Tensor& in,
                                 const at::Tensor& attention, const Variant& edits,
                                 TapObserver& observer) {
  const RowGroup rows{.offsets = {0, in.size(0)}};
  const Variant* const of_rows[] = {&edits};
  const BlockEditor editor(of_rows, block, rows);
  SharedRows shared;
  const at::Tensor& inputs = shared_.front().token_inputs;
  if (inputs.defined()) {
    shared.token_inputs = inputs.index_select(0, positions.to(inputs.device()));
  }
  const BlockPass pass(spec_, weights, block, rows, shared, RopeOn(in.device()), observer, &editor);
  return pass.Join(in, attention);
}

void DecoderPass::Finish(TapObserver& observer) const {
  if (!observer.Wants(Site::kFinalNorm, spec_.blocks - 1)) return;
  for (size_t g = 0; g < groups_.size(); ++g) {
    const BlockTap tap(observer, spec_.blocks - 1, groups_[g].first_row);
    tap(Site::kFinalNorm, FinalState(spec_, outer_, states_[g]));
  }
}

RopeCache& DecoderPass::RopeOn(const at::Device& device) {
  return ropes_.try_emplace(device.str(), spec_, device).first->second;
}

}  // namespace sinkd
