#include "server/engine/forward/decoder_pass.h"

#include <optional>
#include <utility>

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
  for (const RowGroup& group : groups_) states_.push_back(Embed(spec, outer, batch.ids, group));
}

DecoderPass::DecoderPass(const DecoderSpec& spec, const OuterWeights& outer,
                         std::span<const at::Tensor> samples)
    : spec_(spec), outer_(outer) {
  std::vector<int64_t> offsets = {0};
  for (const at::Tensor& sample : samples) offsets.push_back(offsets.back() + sample.size(0));
  groups_ = GroupRows(offsets, kGroupRows);
  for (const RowGroup& group : groups_) {
    const auto of_group = samples.subspan(static_cast<size_t>(group.first_sample),
                                          static_cast<size_t>(group.samples()));
    states_.push_back(at::cat(std::vector<at::Tensor>(of_group.begin(), of_group.end())));
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
    const BlockPass pass(spec_, weights, block, groups_[g], RopeOn(device), observer,
                         editor ? &*editor : nullptr);
    at::Tensor x = std::exchange(states_[g], {}).to(device);
    states_[g] = pass.Run(std::move(x));
  }
  return absl::OkStatus();
}

at::Tensor DecoderPass::JoinRows(const BlockWeights& weights, int64_t block, const at::Tensor& in,
                                 const at::Tensor& attention, const Variant& edits,
                                 TapObserver& observer) {
  const RowGroup rows{.offsets = {0, in.size(0)}};
  const Variant* const of_rows[] = {&edits};
  const BlockEditor editor(of_rows, block, rows);
  const BlockPass pass(spec_, weights, block, rows, RopeOn(in.device()), observer, &editor);
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
