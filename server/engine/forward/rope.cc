#include "server/engine/forward/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <ATen/ATen.h>

namespace sinkd {
namespace {

// The dimension whose wave makes `rotations` turns over the original context (YaRN, section 3.2).
double CorrectionDimension(double rotations, const RopeSpec& rope) {
  return static_cast<double>(rope.dimensions) *
         std::log(rope.original_positions / (rotations * 2 * std::numbers::pi)) /
         (2 * std::log(rope.theta));
}

at::Tensor Llama3(const RopeSpec& rope, const at::Tensor& base) {
  const at::Tensor wavelength = (2 * std::numbers::pi) / base;
  const double longest = rope.original_positions / rope.low_frequency_factor;
  const double shortest = rope.original_positions / rope.high_frequency_factor;
  const at::Tensor smooth = (rope.original_positions / wavelength - rope.low_frequency_factor) /
                            (rope.high_frequency_factor - rope.low_frequency_factor);
  const at::Tensor between = (1 - smooth) * base / rope.factor + smooth * base;
  const at::Tensor scaled = at::where(wavelength > longest, base / rope.factor, base);
  return at::where((wavelength >= shortest).logical_and(wavelength <= longest), between, scaled);
}

at::Tensor Periods(double theta, int64_t dimensions) {
  const at::Tensor exponents = at::arange(0, dimensions, 2, at::kFloat) / dimensions;
  return at::pow(at::Scalar(theta), exponents);
}

at::Tensor Yarn(const RopeSpec& rope) {
  const at::Tensor periods = Periods(rope.theta, rope.dimensions);
  double low = CorrectionDimension(rope.beta_fast, rope);
  double high = CorrectionDimension(rope.beta_slow, rope);
  if (rope.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(rope.dimensions - 1));
  if (low == high) high += 0.001;
  const at::Tensor ramp =
      ((at::arange(rope.dimensions / 2, at::kFloat) - low) / (high - low)).clamp(0, 1);
  const at::Tensor keep = 1 - ramp;
  return 1.0 / (rope.factor * periods) * (1 - keep) + 1.0 / periods * keep;
}

// The base grows with the sample once it is longer than the context trained with.
at::Tensor Dynamic(const RopeSpec& rope, int64_t positions) {
  const double ratio =
      std::max(static_cast<double>(positions), rope.original_positions) / rope.original_positions;
  const auto dimensions = static_cast<double>(rope.dimensions);
  const double theta =
      rope.theta * std::pow(rope.factor * ratio - (rope.factor - 1), dimensions / (dimensions - 2));
  return 1.0 / Periods(theta, rope.dimensions);
}

at::Tensor Longrope(const RopeSpec& rope, int64_t positions) {
  const bool longer = static_cast<double>(positions) > rope.original_positions;
  const std::vector<double>& factors = longer ? rope.long_factors : rope.short_factors;
  return 1.0 / (at::tensor(factors, at::kFloat) * Periods(rope.theta, rope.dimensions));
}

// Frequencies of all pairs, most of them zero (transformers, modeling_rope_utils.py).
at::Tensor Proportional(const RopeSpec& rope) {
  at::Tensor frequencies = 1.0 / Periods(rope.theta, rope.dimensions);
  frequencies.narrow(0, rope.turning_pairs, rope.dimensions / 2 - rope.turning_pairs).zero_();
  return frequencies / rope.factor;
}

bool DependsOnLength(const RopeSpec& rope) {
  return rope.kind == RopeKind::kDynamic || rope.kind == RopeKind::kLongrope;
}

RopeTables MakeTables(const RopeSpec& rope, int64_t positions, const at::Device& device) {
  const at::Tensor angles = at::arange(positions, at::kFloat).unsqueeze(1) *
                            InverseFrequencies(rope, positions).unsqueeze(0);
  const bool longer =
      rope.long_attention_factor != 0 && static_cast<double>(positions) > rope.original_positions;
  const double factor = longer ? rope.long_attention_factor : rope.attention_factor;
  RopeTables tables{.cos = (angles.cos() * factor).to(device),
                    .sin = (angles.sin() * factor).to(device),
                    .query_scale = {},
                    .interleaved = rope.interleaved,
                    .last = rope.last};
  if (rope.query_growth != 0) {
    const at::Tensor spans =
        ((at::arange(positions, at::kFloat) + rope.growth_start) / rope.growth_positions).floor();
    tables.query_scale = (at::log(1 + spans) * rope.query_growth + 1).to(device);
  }
  return tables;
}

}  // namespace

at::Tensor InverseFrequencies(const RopeSpec& rope, int64_t positions) {
  switch (rope.kind) {
    case RopeKind::kDefault:
      return 1.0 / Periods(rope.theta, rope.dimensions);
    case RopeKind::kLinear:
      return 1.0 / Periods(rope.theta, rope.dimensions) / rope.factor;
    case RopeKind::kDynamic:
      return Dynamic(rope, positions);
    case RopeKind::kLlama3:
      return Llama3(rope, 1.0 / Periods(rope.theta, rope.dimensions));
    case RopeKind::kYarn:
      return Yarn(rope);
    case RopeKind::kLongrope:
      return Longrope(rope, positions);
    case RopeKind::kProportional:
      return Proportional(rope);
  }
  return {};
}

const RopeTables* RopeCache::Get(int64_t block, const RowGroup& group) {
  const int32_t index = spec_.rope_of_block[static_cast<size_t>(block)];
  if (index < 0) return nullptr;
  const auto [place, added] = of_groups_.try_emplace({index, group.first_row});
  if (!added) return &place->second;
  // One after the other, what `part` is of each sample.
  const auto joined = [&](at::Tensor RopeTables::*part) {
    std::vector<at::Tensor> rows;
    for (int64_t s = 0; s < group.samples(); ++s) {
      const at::Tensor& table = OfSample(index, group.length(s)).*part;
      if (!table.defined()) return table;
      rows.push_back(table.narrow(0, 0, group.length(s)));
    }
    return rows.size() == 1 ? rows.front() : at::cat(rows);
  };
  place->second = {.cos = joined(&RopeTables::cos),
                   .sin = joined(&RopeTables::sin),
                   .query_scale = joined(&RopeTables::query_scale),
                   .interleaved = spec_.ropes[static_cast<size_t>(index)].interleaved,
                   .last = spec_.ropes[static_cast<size_t>(index)].last};
  return &place->second;
}

const RopeTables& RopeCache::OfSample(int32_t index, int64_t positions) {
  const RopeSpec& rope = spec_.ropes[static_cast<size_t>(index)];
  if (!DependsOnLength(rope)) {
    // Any table that is long enough will do.
    const auto longer = of_samples_.lower_bound({index, positions});
    if (longer != of_samples_.end() && longer->first.first == index) return longer->second;
  }
  const auto [place, added] = of_samples_.try_emplace({index, positions});
  if (added) place->second = MakeTables(rope, positions, device_);
  return place->second;
}

void Rotate(const at::Tensor& x, const RopeTables& tables, at::Tensor out) {
  const int64_t half = tables.cos.size(1);
  const int64_t rest = x.size(-1) - 2 * half;
  const int64_t begin = tables.last ? rest : 0;
  const at::Tensor cos = tables.cos.unsqueeze(1);
  const at::Tensor sin = tables.sin.unsqueeze(1);
  const auto of_pairs = [&](const at::Tensor& all, int64_t which) {
    return tables.interleaved ? all.slice(-1, begin + which, begin + 2 * half, 2)
                              : all.narrow(-1, begin + which * half, half);
  };
  const at::Tensor first = of_pairs(x, 0);
  const at::Tensor second = of_pairs(x, 1);
  at::Tensor out_first = of_pairs(out, 0);
  at::Tensor out_second = of_pairs(out, 1);
  // Products are rounded before they are added, as transformers does it.
  at::mul_out(out_first, first, cos).sub_(second * sin);
  at::mul_out(out_second, second, cos).add_(first * sin);
  const int64_t kept = tables.last ? 0 : 2 * half;
  if (rest > 0) out.narrow(-1, kept, rest).copy_(x.narrow(-1, kept, rest));
}

}  // namespace sinkd
