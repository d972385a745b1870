#include "server/engine/trace_builder.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "server/engine/host_values.h"

namespace sinkd {
namespace {

at::Tensor RowNorms(const at::Tensor& rows) {
  return at::linalg_vector_norm(rows.to(at::kFloat), 2, at::IntArrayRef{1});
}

}  // namespace

TraceBuilder::TraceBuilder(const DecoderSpec& spec, const TraceRequest& request,
                           std::vector<int64_t> offsets, const at::Device& device)
    : layers_(spec.blocks), heads_(spec.heads), request_(request), offsets_(std::move(offsets)) {
  const at::TensorOptions options = at::TensorOptions().dtype(at::kFloat).device(device);
  const int64_t rows = offsets_.back();
  state_norm_ = at::zeros({layers_, rows}, options);
  mlp_norm_ = at::zeros({layers_, rows}, options);
  for (int64_t s = 0; s < Samples(); ++s) {
    const int64_t length = Length(s);
    cosine_.push_back(at::zeros({layers_, std::min(kPrimaryCandidates, length), length}, options));
    if (!request_.attention) continue;
    attention_sum_.push_back(at::zeros({layers_, heads_, length}, options));
    attention_self_.push_back(at::zeros({layers_, heads_, length}, options));
    prefix_sum_.push_back(at::zeros({layers_, heads_, std::min(request_.prefix, length)}, options));
    if (!spec.learned_sinks) continue;
    sink_mass_.push_back(at::zeros({layers_, heads_}, options.dtype(at::kDouble)));
  }
}

bool TraceBuilder::Wants(Site site, int64_t block) const {
  const bool normed = block == layers_ - 1 && request_.last_state == LastState::kNormed;
  switch (site) {
    case Site::kMlpOut:
      return true;
    case Site::kResidPost:
      return !normed;
    case Site::kFinalNorm:
      return normed;
    default:
      return false;
  }
}

void TraceBuilder::OnRows(Site site, int64_t block, int64_t first_row, const at::Tensor& rows) {
  if (site == Site::kMlpOut) {
    mlp_norm_.select(0, block).narrow(0, first_row, rows.size(0)).copy_(RowNorms(rows));
  } else {
    OnState(block, first_row, rows);
  }
}

// `rows` are whole samples.
void TraceBuilder::OnState(int64_t layer, int64_t first_row, const at::Tensor& rows) {
  const at::Tensor wide = rows.to(at::kFloat);
  const at::Tensor norms = RowNorms(wide);
  state_norm_.select(0, layer).narrow(0, first_row, rows.size(0)).copy_(norms);
  const auto first = std::lower_bound(offsets_.begin(), offsets_.end(), first_row);
  for (int64_t s = first - offsets_.begin(); Begin(s) < first_row + rows.size(0); ++s) {
    const at::Tensor states = wide.narrow(0, Begin(s) - first_row, Length(s));
    const at::Tensor norm = norms.narrow(0, Begin(s) - first_row, Length(s));
    const int64_t candidates = std::min(kPrimaryCandidates, Length(s));
    const at::Tensor dots = at::matmul(states.narrow(0, 0, candidates), states.t());
    const at::Tensor scale = norm.narrow(0, 0, candidates).unsqueeze(1) * norm.unsqueeze(0);
    // A zero vector points nowhere: cosine 0 by definition.
    cosine_[static_cast<size_t>(s)].select(0, layer).copy_(
        at::where(scale > 0, dots / scale, at::zeros_like(dots)));
  }
}

bool TraceBuilder::WantsAttention(int64_t) const {
  return request_.attention;
}

void TraceBuilder::OnAttention(const AttentionStrip& strip) {
  const auto sample = static_cast<size_t>(strip.sample);
  const int64_t heads = strip.weights.size(0);
  const int64_t queries = strip.weights.size(1);
  const int64_t keys = strip.weights.size(2);
  const auto of_strip = [&](const std::vector<at::Tensor>& all) {
    return all[sample].select(0, strip.block).narrow(0, strip.first_head, heads);
  };
  if (strip.first_query == 0) {
    // Sums over many strips: float64, so that a long sample loses nothing.
    column_sum_ = at::zeros({heads, strip.positions}, strip.weights.options().dtype(at::kDouble));
  }
  column_sum_.narrow(1, strip.first_key, keys).add_(strip.weights.sum(1));
  of_strip(attention_self_)
      .narrow(1, strip.first_query, queries)
      .copy_(strip.weights.diagonal(strip.first_query - strip.first_key, 1, 2));
  if (strip.learned_sink_mass.defined()) {
    const at::Tensor mass = of_strip(sink_mass_);
    mass.add_(
        strip.learned_sink_mass.sum(1, false, at::kDouble).div_(strip.positions).to(mass.device()));
  }
  const int64_t prefix = prefix_sum_[sample].size(2);
  if (strip.first_query < prefix && strip.first_key < prefix) {
    const int64_t rows = std::min(queries, prefix - strip.first_query);
    const int64_t columns = std::min(keys, prefix - strip.first_key);
    const at::Tensor sum = of_strip(prefix_sum_).narrow(1, strip.first_key, columns);
    sum.add_(strip.weights.narrow(1, 0, rows).narrow(2, 0, columns).sum(1).to(sum.device()));
  }
  if (strip.first_query + queries == strip.positions) {
    of_strip(attention_sum_).copy_(column_sum_);
    column_sum_.reset();
  }
}

std::vector<Trace> TraceBuilder::Finish() {
  std::vector<Trace> traces;
  for (int64_t s = 0; s < Samples(); ++s) {
    const auto at = static_cast<size_t>(s);
    Trace& trace = traces.emplace_back();
    trace.layers = layers_;
    trace.positions = Length(s);
    trace.heads = heads_;
    trace.candidates = std::min(kPrimaryCandidates, Length(s));
    trace.state_norm = HostValues<float>(state_norm_.narrow(1, Begin(s), Length(s)));
    trace.mlp_norm = HostValues<float>(mlp_norm_.narrow(1, Begin(s), Length(s)));
    trace.candidate_cosine = HostValues<float>(cosine_[at]);
    if (!request_.attention) continue;
    trace.prefix = prefix_sum_[at].size(2);
    trace.attention_sum = HostValues<float>(attention_sum_[at]);
    trace.attention_self = HostValues<float>(attention_self_[at]);
    trace.prefix_attention_sum = HostValues<float>(prefix_sum_[at]);
    if (!sink_mass_.empty())
      trace.learned_sink_mass = HostValues<float>(sink_mass_[at].to(at::kFloat));
  }
  return traces;
}

}  // namespace sinkd
