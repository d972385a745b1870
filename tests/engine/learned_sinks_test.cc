// The share of the softmax that goes to learned sinks: against transformers on every checkpoint
// that has them, and against a softmax over the whole matrix where a sample takes several strips.
#include <algorithm>
#include <cmath>
#include <limits>

#include <ATen/ATen.h>
#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include "server/engine/forward/attention.h"
#include "server/engine/model.h"
#include "server/engine/taps/trace_builder.h"
#include "tests/engine/oracle_files.h"

namespace sinkd::testing {
namespace {

constexpr double kTolerance = 1e-5;  // absolute, of a mean over queries

const std::vector<std::string> kCheckpoints = {
    "families/gpt_oss_sinks",          "families/gpt_oss_layer_types",
    "families/gpt_oss_mxfp4",          "decoders/granite_swa_windows",
    "decoders/granitemoe_swa_windows", "decoders/mimo_v2_flash_windows"};

std::unique_ptr<Model> LoadOrDie(const std::string& checkpoint) {
  auto model = Model::Load(OracleFolder() / checkpoint, {.compute_type = ComputeType::kFloat32});
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *std::move(model) : nullptr;
}

// Means over the queries of [L, H, T].
std::vector<double> MeansOverQueries(const std::vector<float>& values, int64_t length) {
  std::vector<double> means(values.size() / static_cast<size_t>(length), 0);
  for (size_t i = 0; i < values.size(); ++i) {
    means[i / static_cast<size_t>(length)] += double{values[i]} / static_cast<double>(length);
  }
  return means;
}

double LargestDifference(const std::vector<float>& got, const std::vector<double>& want) {
  EXPECT_EQ(got.size(), want.size());
  double largest = 0;
  for (size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
    largest = std::max(largest, std::abs(got[i] - want[i]));
  }
  return largest;
}

class LearnedSinks : public ::testing::TestWithParam<std::string> {};

TEST_P(LearnedSinks, TakeTheShareTheyTakeInTransformers) {
  const std::string& checkpoint = GetParam();
  const auto model = LoadOrDie(checkpoint);
  ASSERT_NE(model, nullptr);
  for (const int64_t length : {1, 7, 64, 200}) {
    const ExpectedSample expected = ReadExpected(checkpoint, "f32", length);
    const std::vector<double> want = MeansOverQueries(expected.learned_sink_mass, length);
    const auto traces = model->Run({&expected.ids, 1}, {});
    ASSERT_TRUE(traces.ok()) << traces.status();
    const double difference = LargestDifference(traces->front().learned_sink_mass, want);
    EXPECT_LE(difference, kTolerance) << length << " tokens";
    EXPECT_GT(*std::max_element(want.begin(), want.end()), 0.1) << "nothing to compare";
    printf("%s, %d tokens: largest difference %.2e\n", checkpoint.c_str(), int(length), difference);
  }
}

TEST_P(LearnedSinks, TakeTheSameShareInABatch) {
  const std::string& checkpoint = GetParam();
  const auto model = LoadOrDie(checkpoint);
  ASSERT_NE(model, nullptr);
  const std::vector<int64_t> lengths = {200, 1, 64, 7};
  std::vector<TokenIds> batch;
  std::vector<std::vector<double>> want;
  for (const int64_t length : lengths) {
    const ExpectedSample expected = ReadExpected(checkpoint, "f32", length);
    batch.push_back(expected.ids);
    want.push_back(MeansOverQueries(expected.learned_sink_mass, length));
  }
  const auto traces = model->Run(batch, {});
  ASSERT_TRUE(traces.ok()) << traces.status();
  for (size_t s = 0; s < batch.size(); ++s) {
    EXPECT_LE(LargestDifference((*traces)[s].learned_sink_mass, want[s]), kTolerance);
  }
}

TEST_P(LearnedSinks, AreNotTracedWithoutAttention) {
  const auto model = LoadOrDie(GetParam());
  ASSERT_NE(model, nullptr);
  const TokenIds ids = {1, 2, 3};
  const auto traces = model->Run({&ids, 1}, {.attention = false});
  ASSERT_TRUE(traces.ok()) << traces.status();
  EXPECT_TRUE(traces->front().learned_sink_mass.empty());
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, LearnedSinks, ::testing::ValuesIn(kCheckpoints),
                         [](const auto& test) {
                           return test.param.substr(test.param.find('/') + 1);
                         });

class OtherFamilies : public ::testing::TestWithParam<std::string> {};

TEST_P(OtherFamilies, HaveNoLearnedSinks) {
  const auto model = LoadOrDie(GetParam());
  ASSERT_NE(model, nullptr);
  const TokenIds ids = {1, 2, 3};
  const auto traces = model->Run({&ids, 1}, {});
  ASSERT_TRUE(traces.ok()) << traces.status();
  EXPECT_FALSE(traces->front().attention_sum.empty());
  EXPECT_TRUE(traces->front().learned_sink_mass.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Checkpoints, OtherFamilies,
    ::testing::Values("tiny/llama_grouped", "tiny/qwen2_window", "tiny/qwen3_plain",
                      "families/phi3_plain", "families/mistral_window", "families/mixtral_experts",
                      "families/qwen3_moe_renormalised", "families/gemma2_softcap",
                      "families/gemma3_pattern", "families/olmo2_plain", "families/gpt2_plain",
                      "families/gpt_neox_parallel", "families/opt_pre_norm",
                      "families/smollm3_no_rope"),
    [](const auto& test) { return test.param.substr(test.param.find('/') + 1); });

constexpr int64_t kHeads = 4;

AttentionInput RandomInput(int64_t positions, int64_t window, const at::Tensor& sinks) {
  return {.q = at::randn({positions, kHeads, 8}) * 2,
          .k = at::randn({positions, 2, 8}),
          .v = at::randn({positions, 2, 8}),
          .sinks = sinks,
          .scale = 0.5,
          .window = window};
}

// [H] mean over queries of exp(sink) / (exp(sink) + sum over visible keys of exp(score)), float64.
at::Tensor DenseMass(const AttentionInput& input) {
  const int64_t positions = input.q.size(0);
  const at::Tensor q = input.q.to(at::kDouble).transpose(0, 1);
  const at::Tensor k = input.k.to(at::kDouble).repeat_interleave(kHeads / 2, 1).permute({1, 2, 0});
  const at::Tensor scores = at::matmul(q, k) * input.scale;  // [H, T, T]
  const at::Tensor all = at::ones({positions, positions}, at::kBool);
  at::Tensor visible = at::tril(all);
  if (input.window > 0) visible = visible.logical_and(at::triu(all, 1 - input.window));
  const at::Tensor keys = (scores.exp() * visible).sum(-1);
  const at::Tensor sink = input.sinks.to(at::kDouble).exp().unsqueeze(1);
  return (sink / (sink + keys)).mean(-1);
}

TEST(LearnedSinkMass, OfSamplesOfSeveralStripsIsThatOfTheWholeMatrix) {
  at::manual_seed(3);
  const std::vector<int64_t> lengths = {700, 1, 300};
  for (const int64_t window : {0, 1, 90}) {
    const at::Tensor sinks = at::arange(kHeads, at::kFloat) * 2 - 3;
    TraceBuilder builder({.blocks = 2, .heads = kHeads, .learned_sinks = true}, {},
                         {0, 700, 701, 1001}, at::kCPU);
    std::vector<std::vector<at::Tensor>> want(lengths.size());  // by sample and block
    for (int64_t block = 0; block < 2; ++block) {
      for (size_t s = 0; s < lengths.size(); ++s) {
        const AttentionInput input = RandomInput(lengths[s], window, sinks);
        Attend(input, &builder, block, static_cast<int64_t>(s));
        want[s].push_back(DenseMass(input));
      }
    }
    const std::vector<Trace> traces = builder.Finish();
    for (size_t s = 0; s < lengths.size(); ++s) {
      for (int64_t cell = 0; cell < 2 * kHeads; ++cell) {
        const int64_t block = cell / kHeads, head = cell % kHeads;
        EXPECT_NEAR(traces[s].LearnedSinkMass(block, head),
                    want[s][static_cast<size_t>(block)][head].item<double>(), 1e-6)
            << "sample " << s << ", block " << block << ", head " << head << ", window " << window;
      }
    }
  }
}

}  // namespace
}  // namespace sinkd::testing
