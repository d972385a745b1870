// The hot parts of a forward pass, each alone, on random numbers in the shapes of known models.
// Arguments: which model, tokens. CPU time over all threads is what to compare.
#include <array>

#include <ATen/ATen.h>
#include <benchmark/benchmark.h>
#include <c10/core/InferenceMode.h>

#include "server/engine/forward/attention.h"
#include "server/engine/forward/attention_sums.h"
#include "server/engine/forward/mlp.h"
#include "server/engine/taps/block_tap.h"
#include "server/engine/taps/trace_builder.h"

namespace sinkd {
namespace {

struct Shape {
  const char* name;
  int64_t heads, kv_heads, head_size, hidden, intermediate;
};

constexpr std::array kShapes = {
    Shape{"SmolLM2-135M", 9, 3, 64, 576, 1536},
    Shape{"Qwen2.5-0.5B", 14, 2, 64, 896, 4864},
    Shape{"Qwen2.5-1.5B", 12, 2, 128, 1536, 8960},
};

const Shape& ShapeOf(benchmark::State& state) {
  const Shape& shape = kShapes[static_cast<size_t>(state.range(0))];
  state.SetLabel(shape.name);
  return shape;
}

DecoderSpec OneBlock(const Shape& shape) {
  return {.blocks = 1,
          .hidden = shape.hidden,
          .heads = shape.heads,
          .kv_heads = shape.kv_heads,
          .head_size = shape.head_size,
          .intermediate = shape.intermediate};
}

TraceBuilder BuilderFor(const Shape& shape, int64_t positions, bool attention) {
  return TraceBuilder(OneBlock(shape), {.attention = attention}, {0, positions}, at::kCPU);
}

enum class Way { kChosen, kNarrow, kStrips };

void Attention(benchmark::State& state, Way way) {
  const c10::InferenceMode inference;
  const Shape& shape = ShapeOf(state);
  const int64_t positions = state.range(1);
  const AttentionInput input{.q = at::randn({positions, shape.heads, shape.head_size}),
                             .k = at::randn({positions, shape.kv_heads, shape.head_size}),
                             .v = at::randn({positions, shape.kv_heads, shape.head_size}),
                             .scale = 1.0 / 8,
                             .narrow = way == Way::kNarrow};
  AttentionSums sums(1, shape.heads, positions, 0, false, at::kCPU);
  const auto attend = [&] {
    if (way == Way::kStrips) return AttendInStrips(input, &sums);
    return Attend(input, nullptr, 0, 0);
  };
  attend();  // warm caches and allocator
  for (auto _ : state) benchmark::DoNotOptimize(attend());
}

void Mlp(benchmark::State& state, at::ScalarType type) {
  const c10::InferenceMode inference;
  const Shape& shape = ShapeOf(state);
  const DecoderSpec spec = OneBlock(shape);
  BlockWeights weights;
  weights.mlp.gate_up = (at::randn({2 * shape.intermediate, shape.hidden}) * 0.02).to(type);
  weights.mlp.down = (at::randn({shape.hidden, shape.intermediate}) * 0.02).to(type);
  const at::Tensor in = at::randn({state.range(1), shape.hidden});
  TraceBuilder builder = BuilderFor(shape, state.range(1), false);
  const BlockTap tap(builder, 0, 0);
  RunMlp(spec, weights, in, {}, tap, 0);
  for (auto _ : state) {
    benchmark::DoNotOptimize(RunMlp(spec, weights, in, {}, tap, 0));
  }
}

// Norms and cosines of one layer's states, norms of what its MLP wrote.
void TraceRows(benchmark::State& state) {
  const c10::InferenceMode inference;
  const Shape& shape = ShapeOf(state);
  const at::Tensor rows = at::randn({state.range(1), shape.hidden});
  TraceBuilder builder = BuilderFor(shape, state.range(1), false);
  for (auto _ : state) {
    builder.OnRows(Site::kFinalNorm, 0, 0, rows);
    builder.OnRows(Site::kMlpOut, 0, 0, rows);
  }
}

void Sizes(benchmark::internal::Benchmark* benchmark, const std::vector<int64_t>& tokens) {
  benchmark->ArgNames({"model", "T"})->ArgsProduct({{0, 1, 2}, tokens})->MeasureProcessCPUTime();
  benchmark->Unit(benchmark::kMillisecond)->UseRealTime();
}

void LongSizes(benchmark::internal::Benchmark* benchmark) {
  Sizes(benchmark, {64, 512, 2048, 8192, 32768});
}

void RowSizes(benchmark::internal::Benchmark* benchmark) {
  Sizes(benchmark, {512, 2048});
}

BENCHMARK_CAPTURE(Attention, float32, Way::kChosen)->Apply(LongSizes);
BENCHMARK_CAPTURE(Attention, bfloat16, Way::kNarrow)->Apply(LongSizes);
BENCHMARK_CAPTURE(Attention, strips, Way::kStrips)->Apply(LongSizes);
BENCHMARK_CAPTURE(Mlp, float32, at::kFloat)->Apply(RowSizes);
BENCHMARK_CAPTURE(Mlp, bfloat16, at::kBFloat16)->Apply(RowSizes);
BENCHMARK(TraceRows)->Apply(RowSizes);

}  // namespace
}  // namespace sinkd

BENCHMARK_MAIN();
