#include "server/engine/taps/trace_builder.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>

#include <ATen/ATen.h>

#include "server/engine/forward/norm.h"
#include "server/engine/numerics/host_values.h"

namespace sinkd {
namespace {

// The ratio of the largest of `sizes` [rows, C] to their median where the row is an outlier, else
// 0.
at::Tensor OutlierRatios(const at::Tensor& sizes) {
  const at::Tensor largest = sizes.amax(1);
  const at::Tensor median = std::get<0>(sizes.median(1));
  const at::Tensor outlier = median.le(largest / kOutlierRatio) & largest.gt(0);
  const at::Tensor ratio =
      (largest / median).clamp(kOutlierRatio, std::numeric_limits<float>::max());
  return at::where(outlier, ratio, at::zeros_like(ratio));
}

}  // namespace

TraceBuilder::TraceBuilder(const DecoderSpec& spec, const TraceRequest& request,
                           const std::vector<int64_t>& offsets, const at::Device& device,
                           const at::Tensor& ids)
    : layers_(spec.blocks), heads_(spec.heads), request_(request) {
  const at::TensorOptions options = at::TensorOptions().dtype(at::kFloat).device(device);
  state_norm_ = at::zeros({layers_, offsets.back()}, options);
  mlp_norm_ = at::zeros({layers_, offsets.back()}, options);
  outlier_ = at::zeros({offsets.back()}, options);
  if (request_.attention && spec.attention_gate) {
    gates_ = at::zeros({layers_, heads_, offsets.back()}, options);
  }
  if (request_.attention && request_.heads) {
    tokens_ = ids.to(at::kInt);
    value_norm_ = at::zeros({layers_, heads_, offsets.back()}, options);
  }
  for (int64_t l = 0; l < std::ssize(spec.mixer); ++l) {
    if (spec.Attends(l)) attention_blocks_.push_back(static_cast<int32_t>(l));
  }
  for (const EqualSamples& of : GroupByLength(offsets)) {
    Equals& equals = equals_.emplace_back(Equals{.of = of});
    const int64_t length = of.length;
    const auto zeros = [&](int64_t rows, int64_t columns) {
      return at::zeros({of.samples, layers_, rows, columns}, options);
    };
    equals.cosine = zeros(std::min(kPrimaryCandidates, length), length);
    if (!request_.attention) continue;
    equals.attention_sum = zeros(heads_, length);
    equals.attention_self = zeros(heads_, length);
    equals.prefix_sum = zeros(heads_, std::min(request_.prefix, length));
    const at::TensorOptions wide = options.dtype(at::kDouble);
    if (request_.heads) {
      equals.rows = at::zeros({of.samples, layers_, heads_, int64_t{kRowSums}}, wide);
    }
    if (!spec.learned_sinks) continue;
    equals.sink_mass = at::zeros({of.samples, layers_, heads_}, wide);
  }
}

bool TraceBuilder::Wants(Site site, int64_t block) const {
  const bool normed = block == layers_ - 1 && request_.last_state == LastState::kNormed;
  switch (site) {
    case Site::kMlpIn:
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
  if (site == Site::kMlpIn) {
    OnMlpInput(first_row, rows);
  } else if (site == Site::kMlpOut) {
    mlp_norm_.select(0, block).narrow(0, first_row, rows.size(0)).copy_(EuclideanNorms(rows));
  } else {
    OnState(block, first_row, rows);
  }
}

// Medians take long on a CPU, and few rows have an outlier: one has if half of its entries are
// small. Elsewhere all rows are taken, since finding those few would wait for the device.
void TraceBuilder::OnMlpInput(int64_t first_row, const at::Tensor& rows) {
  const at::Tensor sizes = rows.to(at::kFloat).abs();
  if (!rows.is_cpu()) {
    const at::Tensor of_rows = outlier_.narrow(0, first_row, rows.size(0));
    of_rows.copy_(at::maximum(of_rows, OutlierRatios(sizes)));
    return;
  }
  const at::Tensor small = sizes.le((sizes.amax(1) / kOutlierRatio).unsqueeze(1)).sum(1);
  const at::Tensor found = at::nonzero(small.mul(2).ge(rows.size(1))).flatten();
  if (found.size(0) == 0) return;
  const at::Tensor places = found + first_row;
  outlier_.index_copy_(
      0, places,
      at::maximum(outlier_.index_select(0, places), OutlierRatios(sizes.index_select(0, found))));
}

// `rows` are whole samples.
void TraceBuilder::OnState(int64_t layer, int64_t first_row, const at::Tensor& rows) {
  const at::Tensor states = rows.to(at::kFloat);
  const at::Tensor norms = EuclideanNorms(states);
  state_norm_.select(0, layer).narrow(0, first_row, rows.size(0)).copy_(norms);
  for (const Equals& equals : equals_) {
    const EqualSamples& of = equals.of;
    const int64_t begin = std::max(first_row, of.first_row);
    const int64_t end = std::min(first_row + rows.size(0), of.end_row());
    if (begin >= end) continue;
    const int64_t samples = (end - begin) / of.length;
    const auto by_sample = [&](const at::Tensor& all) {
      return all.narrow(0, begin - first_row, end - begin).unflatten(0, {samples, of.length});
    };
    const at::Tensor state = by_sample(states);  // [S, T, C]
    const at::Tensor norm = by_sample(norms);    // [S, T]
    const int64_t candidates = equals.cosine.size(2);
    // A zero vector points nowhere: cosine 0 by definition.
    const at::Tensor inverse = at::where(norm > 0, norm.reciprocal(), at::zeros_like(norm));
    // The candidates' directions first: products of two small states would not be float32.
    const at::Tensor directions =
        state.narrow(1, 0, candidates) * inverse.narrow(1, 0, candidates).unsqueeze(2);
    equals.cosine.narrow(0, (begin - of.first_row) / of.length, samples)
        .select(1, layer)
        .copy_(at::bmm(directions, state.transpose(1, 2)).mul_(inverse.unsqueeze(1)));
  }
}

bool TraceBuilder::WantsAttention(int64_t) const {
  return request_.attention;
}

void TraceBuilder::OnValueNorms(int64_t block, int64_t first_row, const at::Tensor& norms) {
  value_norm_.select(0, block).narrow(1, first_row, norms.size(0)).copy_(norms.t());
}

void TraceBuilder::OnGates(int64_t block, int64_t first_row, const at::Tensor& gates) {
  gates_.select(0, block).narrow(1, first_row, gates.size(0)).copy_(gates.t());
}

const TraceBuilder::Equals& TraceBuilder::Holding(int64_t sample) const {
  const auto after = std::upper_bound(
      equals_.begin(), equals_.end(), sample,
      [](int64_t wanted, const Equals& equals) { return wanted < equals.of.first; });
  return *std::prev(after);
}

void TraceBuilder::OnAttention(int64_t block, int64_t first_sample, const AttentionSums& sums) {
  const Equals& equals = Holding(first_sample);
  const auto of_block = [&](const at::Tensor& all) {
    return all.narrow(0, first_sample - equals.of.first, sums.column.size(0)).select(1, block);
  };
  of_block(equals.attention_sum).copy_(sums.column);
  of_block(equals.attention_self).copy_(sums.self);
  of_block(equals.prefix_sum).copy_(sums.prefix.narrow(2, 0, equals.prefix_sum.size(3)));
  if (equals.rows.defined()) {
    const at::Tensor rows = of_block(equals.rows).copy_(sums.rows);
    rows.narrow(2, kRowEntropy, 2).div_(static_cast<double>(std::max<int64_t>(1, sums.choosing)));
  }
  // An edit may bring a share that goes to no key where the model has none.
  if (!sums.sink_mass.defined() || !equals.sink_mass.defined()) return;
  of_block(equals.sink_mass).copy_(sums.sink_mass / equals.of.length);
}

std::vector<Trace> TraceBuilder::Finish() {
  std::vector<Trace> traces;
  for (const Equals& equals : equals_) {
    for (int64_t s = 0; s < equals.of.samples; ++s) {
      const auto values = [s](const at::Tensor& all) { return HostValues<float>(all[s]); };
      const auto rows = [&](const at::Tensor& all) {
        return HostValues<float>(
            all.narrow(-1, equals.of.first_row + s * equals.of.length, equals.of.length));
      };
      Trace& trace = traces.emplace_back();
      trace.layers = layers_;
      trace.positions = equals.of.length;
      trace.heads = heads_;
      trace.candidates = equals.cosine.size(2);
      if (std::ssize(attention_blocks_) < layers_) trace.attention_blocks = attention_blocks_;
      trace.state_norm = rows(state_norm_);
      trace.mlp_norm = rows(mlp_norm_);
      trace.outlier_ratio = rows(outlier_);
      trace.candidate_cosine = values(equals.cosine);
      if (!request_.attention) continue;
      trace.prefix = equals.prefix_sum.size(3);
      trace.attention_sum = values(equals.attention_sum);
      trace.attention_self = values(equals.attention_self);
      trace.prefix_attention_sum = values(equals.prefix_sum);
      if (gates_.defined()) trace.gates = rows(gates_);
      if (equals.rows.defined()) {
        const auto row_sums = [&](RowSum which) {
          return HostValues<float>(equals.rows[s].select(2, which).to(at::kFloat));
        };
        trace.row_entropy = row_sums(kRowEntropy);
        trace.row_maximum = row_sums(kRowMaximum);
        trace.previous_attention = row_sums(kRowPrevious);
        trace.duplicate_attention = row_sums(kRowDuplicate);
        trace.value_norm = rows(value_norm_);
      }
      if (equals.sink_mass.defined()) {
        trace.learned_sink_mass = HostValues<float>(equals.sink_mass[s].to(at::kFloat));
      }
    }
  }
  return traces;
}

}  // namespace sinkd
