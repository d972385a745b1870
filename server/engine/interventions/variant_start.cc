#include "server/engine/interventions/variant_start.h"

#include <algorithm>
#include <iterator>

#include <ATen/ATen.h>

#include "server/engine/forward/norm.h"
#include "server/engine/numerics/host_values.h"

namespace sinkd {
namespace {

// Keeps the norms of mlp_out.
class MlpNorms final : public TapObserver {
 public:
  bool Wants(Site site, int64_t) const override { return site == Site::kMlpOut; }
  void OnRows(Site, int64_t, int64_t, const at::Tensor& rows) override {
    norms_.push_back(EuclideanNorms(rows));
  }

  std::vector<float> Finish() const { return HostValues<float>(at::cat(norms_)); }

 private:
  std::vector<at::Tensor> norms_;
};

at::Tensor Index(const std::vector<int64_t>& positions, const at::Tensor& beside) {
  return at::tensor(positions, at::kLong).to(beside.device());
}

// The variant's edits at `block`, their positions counted among `positions`.
Variant AmongRows(const Variant& variant, int64_t block, const std::vector<int64_t>& positions) {
  Variant placed;
  for (const Edit& edit : variant) {
    if (edit.block != block) continue;
    placed.push_back(edit);
    for (int64_t& position : placed.back().positions) {
      const auto found = std::lower_bound(positions.begin(), positions.end(), position);
      position = found - positions.begin();
    }
  }
  return placed;
}

void CopyLayers(const std::vector<float>& from, int64_t layers, int64_t count,
                std::vector<float>& to) {
  const size_t width = from.size() / static_cast<size_t>(layers);
  std::copy_n(from.begin(), static_cast<size_t>(count) * width, to.begin());
}

}  // namespace

std::optional<int64_t> FirstEditedBlock(const Variant& variant) {
  std::optional<int64_t> first;
  for (const Edit& edit : variant) {
    if (!edit.empty()) first = std::min(first.value_or(edit.block), edit.block);
  }
  return first;
}

VariantStart StartVariant(DecoderPass& pass, const BaseBlock& base, const Variant& variant) {
  VariantStart start;
  for (const Edit& edit : variant) {
    if (edit.block != base.block) continue;
    if (ChangesAttention(edit.action) && !edit.empty()) return {.whole_block = true};
    std::vector<int64_t> both;
    std::set_union(start.positions.begin(), start.positions.end(), edit.positions.begin(),
                   edit.positions.end(), std::back_inserter(both));
    start.positions = std::move(both);
  }
  const Variant edits = AmongRows(variant, base.block, start.positions);
  const at::Tensor rows = Index(start.positions, base.out);
  MlpNorms norms;
  start.out = pass.JoinRows(*base.weights, base.block, rows, base.in.index_select(0, rows),
                            base.attention.index_select(0, rows), edits, norms);
  start.mlp_norm = norms.Finish();
  return start;
}

at::Tensor StateAfterStart(const BaseBlock& base, const VariantStart& start) {
  return base.out.index_copy(0, Index(start.positions, base.out), start.out);
}

void TakeFromBase(const Trace& base, int64_t block, int64_t end, const VariantStart& start,
                  Trace& trace) {
  const int64_t layers = base.layers;
  const int64_t through = std::min(start.whole_block ? block : block + 1, end);
  CopyLayers(base.state_norm, layers, std::min(block, end), trace.state_norm);
  CopyLayers(base.candidate_cosine, layers, std::min(block, end), trace.candidate_cosine);
  CopyLayers(base.mlp_norm, layers, through, trace.mlp_norm);
  CopyLayers(base.attention_sum, layers, through, trace.attention_sum);
  CopyLayers(base.attention_self, layers, through, trace.attention_self);
  CopyLayers(base.prefix_attention_sum, layers, through, trace.prefix_attention_sum);
  CopyLayers(base.learned_sink_mass, layers, through, trace.learned_sink_mass);
  CopyLayers(base.gates, layers, through, trace.gates);
  for (size_t i = 0; i < start.positions.size() && block < end; ++i) {
    trace.mlp_norm[Trace::At(block * base.positions + start.positions[i])] = start.mlp_norm[i];
  }
}

Trace CutTrace(const Trace& base, int64_t end) {
  Trace cut = base;
  for (std::vector<float>* values :
       {&cut.state_norm, &cut.candidate_cosine, &cut.mlp_norm, &cut.attention_sum,
        &cut.attention_self, &cut.prefix_attention_sum, &cut.learned_sink_mass, &cut.gates}) {
    const size_t kept = values->size() / Trace::At(base.layers) * Trace::At(end);
    std::fill(values->begin() + static_cast<std::ptrdiff_t>(kept), values->end(), 0.0F);
  }
  return cut;
}

}  // namespace sinkd
