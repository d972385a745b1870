// Mixers other than attention hold memory in proportion to the tokens: twice the tokens take twice
// the bytes at most, by a count of torch's allocations. A separate binary, since it changes the
// allocator for good.
#include <atomic>
#include <functional>
#include <string>

#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include "server/engine/forward/mixers.h"

namespace sinkd {
namespace {

// What is allocated now and at the most, on any thread.
class Counted final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    auto* const block = new Block{.own = base_->allocate(bytes), .bytes = bytes};
    const size_t now = live += bytes;
    size_t seen = most;
    while (seen < now && !most.compare_exchange_weak(seen, now)) continue;
    return {block->own.get(), block, &Free, c10::Device(c10::DeviceType::CPU)};
  }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

  static inline std::atomic<size_t> live = 0;
  static inline std::atomic<size_t> most = 0;

 private:
  struct Block {
    c10::DataPtr own;
    size_t bytes;
  };
  static void Free(void* context) {
    auto* const block = static_cast<Block*>(context);
    live -= block->bytes;
    delete block;
  }

  c10::Allocator* const base_ = c10::GetCPUAllocator();
};

constexpr int64_t kWidth = 64;

at::Tensor Random(at::IntArrayRef shape) {
  return at::randn(shape) * 0.1;
}

MixerWeights Weights(int64_t projected, int64_t convolved, int64_t inner, int64_t heads) {
  return {.in = Random({projected, kWidth}),
          .in_bias = {},
          .taps = Random({4, convolved}),
          .taps_bias = {},
          .norm = {},
          .decay = Random({heads}),
          .step = Random({heads}),
          .skip = Random({heads}),
          .output = Random({kWidth, inner}),
          .output_bias = {},
          .input = {},
          .mixed = {}};
}

DecoderSpec Spec() {
  DecoderSpec spec;
  spec.hidden = kWidth;
  spec.convolution_taps = 4;
  spec.delta = {.key_heads = 2, .value_heads = 4, .key_size = 16, .value_size = 16};
  spec.mamba = {.heads = 4, .head_size = 16, .groups = 2, .state_size = 16};
  return spec;
}

struct Case {
  std::string name;
  std::function<at::Tensor(const DecoderSpec&, at::Tensor, const RowGroup&)> run;
};
void PrintTo(const Case& given, std::ostream* out) {
  *out << given.name;
}

class MixerMemory : public ::testing::TestWithParam<Case> {};

TEST_P(MixerMemory, IsLinearInTokens) {
  const c10::InferenceMode inference;
  static Counted counted;
  c10::SetCPUAllocator(&counted, /*priority=*/100);
  const DecoderSpec spec = Spec();
  const auto peak = [&](int64_t tokens) {
    const at::Tensor in = Random({tokens, kWidth});
    const RowGroup group{.offsets = {0, tokens}};
    const size_t before = Counted::live;
    Counted::most = before;
    (void)GetParam().run(spec, in, group);
    return static_cast<double>(Counted::most - before);
  };
  peak(1024);  // what is made once
  const double once = peak(2048), twice = peak(4096);
  EXPECT_GT(once, 2048.0 * kWidth * 4) << "nothing is counted";
  EXPECT_LE(twice, 2 * once);
}

INSTANTIATE_TEST_SUITE_P(
    Each, MixerMemory,
    ::testing::Values(Case{"ShortConvolution",
                           [](const DecoderSpec& spec, at::Tensor in, const RowGroup& group) {
                             return ShortConvolution(spec, Weights(3 * kWidth, kWidth, kWidth, 4),
                                                     in, group);
                           }},
                      Case{"GatedDelta",
                           [](const DecoderSpec& spec, at::Tensor in, const RowGroup& group) {
                             MixerWeights weights =
                                 Weights(2 * 32 + 64 + 64 + 8, 2 * 32 + 64, 64, 4);
                             weights.norm.weight = at::ones({16});
                             return GatedDelta(spec, weights, in, group);
                           }},
                      Case{"Mamba2",
                           [](const DecoderSpec& spec, at::Tensor in, const RowGroup& group) {
                             MixerWeights weights =
                                 Weights(64 + 64 + 2 * 32 + 4, 64 + 2 * 32, 64, 4);
                             weights.norm.weight = at::ones({2, 32});
                             return Mamba2(spec, weights, in, group);
                           }}),
    [](const auto& given) { return given.param.name; });

}  // namespace
}  // namespace sinkd
