#include "server/engine/decoder.h"

#include <map>

#include <ATen/ATen.h>

#include "server/base/status.h"
#include "server/engine/block_pass.h"
#include "server/engine/linear.h"
#include "server/engine/norm.h"
#include "server/engine/rope.h"
#include "server/engine/row_group.h"

namespace sinkd {
namespace {

// Enough rows for matrix products to run at full speed, few enough for their results to stay small.
constexpr int64_t kGroupRows = 2048;

// The tables of rotary angles on each device.
class RopeCaches {
 public:
  explicit RopeCaches(const DecoderSpec& spec) : spec_(spec) {}
  RopeCache& On(const at::Device& device) {
    return caches_.try_emplace(device.str(), spec_, device).first->second;
  }

 private:
  const DecoderSpec& spec_;
  std::map<std::string, RopeCache> caches_;
};

// What the blocks read, [rows, C] float32 whatever the weights are: beside a sink of norm 25,000 a
// bfloat16 stream would round everything that later blocks write to the nearest hundred.
at::Tensor Embed(const DecoderSpec& spec, const OuterWeights& outer, const at::Tensor& ids,
                 const RowGroup& group) {
  at::Tensor x = at::embedding(outer.embedding, ids.narrow(0, group.first_row, group.rows()));
  if (outer.project_in.defined()) x = Linear(x, outer.project_in);
  x = x.to(at::kFloat) * spec.embedding_scale;
  if (!outer.positions.defined()) return x;
  std::vector<at::Tensor> rows;
  for (int64_t s = 0; s < group.samples(); ++s) {
    rows.push_back(outer.positions.narrow(0, spec.position_offset, group.length(s)));
  }
  return x + at::cat(rows).to(at::kFloat);
}

at::Tensor FinalState(const DecoderSpec& spec, const OuterWeights& outer, const at::Tensor& x) {
  const at::Tensor here = x.to(outer.embedding.device());
  const at::Tensor normed = outer.final_norm.weight.defined()
                                ? Normalize(spec.norm, here, outer.final_norm, spec.norm_epsilon)
                                : here;
  if (!outer.project_out.defined()) return normed;
  return Linear(normed, outer.project_out.to(at::kFloat));
}

}  // namespace

absl::Status Decoder::Forward(const PackedBatch& batch, TapObserver& observer,
                              const std::stop_token& stop) const {
  const std::vector<RowGroup> groups = GroupRows(batch.offsets, kGroupRows);
  std::vector<at::Tensor> states;
  for (const RowGroup& group : groups) states.push_back(Embed(spec_, outer_, batch.ids, group));
  RopeCaches ropes(spec_);
  const std::unique_ptr<BlockCursor> cursor = blocks_.Begin(stop);
  for (int64_t l = 0; l < spec_.blocks; ++l) {
    SINKD_ASSIGN_OR_RETURN(const BlockWeights* weights, cursor->Next());
    const at::Device device = weights->output.device();
    for (size_t g = 0; g < groups.size(); ++g) {
      if (stop.stop_requested()) return Cancelled("the analysis was cancelled");
      const BlockPass pass(spec_, *weights, l, groups[g], ropes.On(device), observer);
      states[g] = pass.Run(states[g].to(device));
    }
  }
  if (!observer.Wants(Site::kFinalNorm, spec_.blocks - 1)) return absl::OkStatus();
  for (size_t g = 0; g < groups.size(); ++g) {
    const BlockTap tap(observer, spec_.blocks - 1, groups[g].first_row);
    tap(Site::kFinalNorm, FinalState(spec_, outer_, states[g]));
  }
  return absl::OkStatus();
}

}  // namespace sinkd
