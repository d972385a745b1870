// The forward pass against transformers (eager), layer by layer, on random checkpoints of every
// family variant and on SmolLM2.
#include <algorithm>
#include <cmath>

#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include "tests/engine/oracle_files.h"
#include "tests/engine/state_recorder.h"

namespace sinkd::testing {
namespace {

constexpr double kStateTolerance = 2e-5;      // |difference| relative to the state's norm
constexpr double kNormTolerance = 2e-5;       // relative
constexpr double kAttentionTolerance = 1e-5;  // absolute, of column means
constexpr double kBfloat16Slack = 1.2;

struct ParityCase {
  std::string checkpoint;
  int64_t length;
};

std::string CaseName(const ::testing::TestParamInfo<ParityCase>& info) {
  std::string name = absl::StrCat(info.param.checkpoint.substr(info.param.checkpoint.find('/') + 1),
                                  "_T", info.param.length);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
}

std::unique_ptr<Model> LoadOrDie(const std::string& checkpoint, ComputeType type) {
  auto model = Model::Load(OracleFolder() / checkpoint, {.compute_type = type});
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *std::move(model) : nullptr;
}

at::Tensor AsTensor(const std::vector<float>& values, at::IntArrayRef shape) {
  return at::from_blob(const_cast<float*>(values.data()), shape, at::kFloat);
}

// Largest distance of a row from the expected row, relative to the expected row's norm.
double LargestRowDifference(const at::Tensor& got, const at::Tensor& want) {
  const at::Tensor distance = at::linalg_vector_norm(got - want, 2, at::IntArrayRef{-1});
  const at::Tensor norm = at::linalg_vector_norm(want, 2, at::IntArrayRef{-1});
  return (distance / norm).max().item<double>();
}

double RelativeDistance(const at::Tensor& got, const at::Tensor& want) {
  return ((got - want).norm() / want.norm()).item<double>();
}

// A row whose experts change by rounding is far from where it was, whoever computes it, and a few
// such rows would drown the rest: mixtures of experts are compared by their median row.
double MedianRowDistance(const at::Tensor& got, const at::Tensor& want) {
  const at::Tensor distance = at::linalg_vector_norm(got - want, 2, at::IntArrayRef{-1});
  const at::Tensor norm = at::linalg_vector_norm(want, 2, at::IntArrayRef{-1});
  return (distance / norm).median().item<double>();
}

double LargestRelative(const std::vector<float>& got, const std::vector<float>& want) {
  EXPECT_EQ(got.size(), want.size());
  double largest = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    largest = std::max(largest, std::abs(double{got[i]} - want[i]) / std::abs(double{want[i]}));
  }
  return largest;
}

// Of column means: sums over queries divided by the number of queries that see the key.
double LargestMeanDifference(const std::vector<float>& got, const std::vector<float>& want,
                             int64_t length) {
  EXPECT_EQ(got.size(), want.size());
  double largest = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const int64_t key = static_cast<int64_t>(i) % length;
    largest = std::max(largest, std::abs(double{got[i]} - want[i]) / double(length - key));
  }
  return largest;
}

// The oracle keeps the last state of a decoder that projects its output at the stream's width.
at::Tensor StateLikeOracle(const StateRecorder& recorded, int64_t layer, const DecoderSpec& spec) {
  const bool projected = layer == spec.blocks - 1 && spec.embedding_width > 0;
  return projected ? recorded.last_raw() : recorded.states()[static_cast<size_t>(layer)];
}

class Float32Parity : public ::testing::TestWithParam<ParityCase> {};

TEST_P(Float32Parity, StatesEqualTransformersAtEveryLayer) {
  const auto& [checkpoint, length] = GetParam();
  const auto model = LoadOrDie(checkpoint, ComputeType::kFloat32);
  ASSERT_NE(model, nullptr);
  const DecoderSpec& spec = model->info().spec;
  const ExpectedSample expected = ReadExpected(checkpoint, "f32", length);
  const StateRecorder recorded = RecordStates(model->internals(), expected.ids);
  const at::Tensor want = AsTensor(expected.hidden, {spec.blocks, length, spec.hidden});
  double worst = 0;
  for (int64_t l = 0; l < spec.blocks; ++l) {
    const at::Tensor got = StateLikeOracle(recorded, l, spec);
    const double difference = LargestRowDifference(got, want[l]);
    EXPECT_LE(difference, kStateTolerance) << "resid_post of layer " << l;
    worst = std::max(worst, difference);
  }
  const double raw =
      LargestRowDifference(recorded.last_raw(), AsTensor(expected.last_raw, {length, spec.hidden}));
  EXPECT_LE(raw, kStateTolerance) << "last layer before the final norm";
  RecordProperty("largest_state_difference", absl::StrCat(worst));
  printf("largest resid_post difference %.2e, before the final norm %.2e\n", worst, raw);
}

TEST_P(Float32Parity, TraceEqualsTransformers) {
  const auto& [checkpoint, length] = GetParam();
  const auto model = LoadOrDie(checkpoint, ComputeType::kFloat32);
  ASSERT_NE(model, nullptr);
  const ExpectedSample expected = ReadExpected(checkpoint, "f32", length);
  const TokenIds batch[] = {expected.ids};
  const auto traces = model->Run(batch, {.prefix = 64});
  ASSERT_TRUE(traces.ok()) << traces.status();
  const Trace& trace = traces->front();
  const double mlp = LargestRelative(trace.mlp_norm, expected.mlp_norm);
  const double column = LargestMeanDifference(trace.attention_sum, expected.column_sum, length);
  const double self = LargestMeanDifference(trace.attention_self, expected.attention_self, length);
  const double prefix = LargestMeanDifference(
      trace.prefix_attention_sum, expected.prefix64_column_sum, std::min<int64_t>(64, length));
  EXPECT_LE(mlp, kNormTolerance) << "mlp_out norm";
  EXPECT_LE(column, kAttentionTolerance) << "attention column means";
  EXPECT_LE(self, kAttentionTolerance) << "attention to self";
  EXPECT_LE(prefix, kAttentionTolerance) << "attention column means of the first 64 tokens";
  printf("mlp norm %.2e, column means %.2e, self %.2e, prefix %.2e\n", mlp, column, self, prefix);
}

class Bfloat16Parity : public ::testing::TestWithParam<ParityCase> {};

TEST_P(Bfloat16Parity, IsNoFurtherFromFloat32ThanTransformersIs) {
  const auto& [checkpoint, length] = GetParam();
  const auto model = LoadOrDie(checkpoint, ComputeType::kBfloat16);
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->info().compute_type, "bfloat16");
  const DecoderSpec& spec = model->info().spec;
  const ExpectedSample exact = ReadExpected(checkpoint, "f32", length);
  const ExpectedSample theirs = ReadExpected(checkpoint, "bf16", length);
  const at::Tensor want = AsTensor(exact.hidden, {spec.blocks, length, spec.hidden});
  const at::Tensor reference = AsTensor(theirs.hidden, {spec.blocks, length, spec.hidden});
  const StateRecorder recorded = RecordStates(model->internals(), exact.ids);
  double worst_ratio = 0;
  for (int64_t l = 0; l < spec.blocks; ++l) {
    const auto distance = spec.experts.count > 0 ? MedianRowDistance : RelativeDistance;
    const double ours = distance(StateLikeOracle(recorded, l, spec), want[l]);
    const double limit = kBfloat16Slack * distance(reference[l], want[l]);
    EXPECT_LE(ours, limit) << "layer " << l;
    worst_ratio = std::max(worst_ratio, kBfloat16Slack * ours / limit);
  }
  printf("largest distance over transformers' own: %.3f\n", worst_ratio);
}

std::vector<ParityCase> Cases(const std::string& folder, const std::vector<std::string>& names,
                              const std::vector<int64_t>& lengths) {
  std::vector<ParityCase> cases;
  for (const std::string& name : names) {
    for (const int64_t length : lengths) cases.push_back({folder + name, length});
  }
  return cases;
}

const std::vector<std::string> kMainVariants = {"llama_grouped", "llama_rope_llama3",
                                                "qwen2_plain",   "qwen2_yarn",
                                                "qwen2_window",  "qwen3_plain"};
const std::vector<std::string> kOtherVariants = {
    "llama_rope_linear",     "llama_tied",          "llama_biases", "llama_head_size",
    "llama_stored_bfloat16", "qwen2_window_unused", "qwen3_yarn"};

// One checkpoint per family and quirk, tests/oracle/family_models.py.
const std::vector<std::string> kFamilies = {"phi3_plain",
                                            "phi3_partial_rotary",
                                            "phi3_longrope",
                                            "phi3_longrope_su",
                                            "phi3_window",
                                            "mistral_window",
                                            "mistral_no_window",
                                            "mistral_head_size",
                                            "mixtral_experts",
                                            "mixtral_window",
                                            "qwen3_moe_renormalised",
                                            "qwen3_moe_raw",
                                            "qwen3_moe_mixed",
                                            "qwen3_moe_mlp_only",
                                            "gpt_oss_sinks",
                                            "gpt_oss_layer_types",
                                            "gpt_oss_mxfp4",
                                            "gemma2_softcap",
                                            "gemma2_no_softcap",
                                            "gemma3_pattern",
                                            "gemma3_linear",
                                            "gemma3_nested",
                                            "gemma3_rope_parameters",
                                            "olmo2_plain",
                                            "olmo2_linear",
                                            "gpt2_plain",
                                            "gpt2_base_model",
                                            "gpt_neox_parallel",
                                            "gpt_neox_sequential",
                                            "gpt_neox_old_buffers",
                                            "opt_pre_norm",
                                            "opt_post_norm",
                                            "opt_head_only",
                                            "smollm3_no_rope",
                                            "smollm3_biases",
                                            "llama_dynamic",
                                            "qwen2_dynamic_type",
                                            "llama_longrope",
                                            "qwen2_longrope_factor",
                                            "llama_rope_parameters",
                                            "qwen2_rope_parameters",
                                            "phi3_rope_parameters",
                                            "llama_base_model",
                                            "llama_head_only",
                                            "qwen2_other_head",
                                            "qwen3_no_head",
                                            "llama_extra_tensors",
                                            "llama_float8"};

INSTANTIATE_TEST_SUITE_P(Families, Float32Parity,
                         ::testing::ValuesIn(Cases("families/", kFamilies, {1, 7, 64, 200})),
                         CaseName);
INSTANTIATE_TEST_SUITE_P(Families, Bfloat16Parity,
                         ::testing::ValuesIn(Cases("families/", kFamilies, {64})), CaseName);
INSTANTIATE_TEST_SUITE_P(MainVariants, Float32Parity,
                         ::testing::ValuesIn(Cases("tiny/", kMainVariants, {1, 2, 64, 1000, 2500})),
                         CaseName);
INSTANTIATE_TEST_SUITE_P(OtherVariants, Float32Parity,
                         ::testing::ValuesIn(Cases("tiny/", kOtherVariants, {2, 64, 1000})),
                         CaseName);
INSTANTIATE_TEST_SUITE_P(SmolLM2, Float32Parity,
                         ::testing::Values(ParityCase{"smollm2/smollm2-135m-instruct", 64},
                                           ParityCase{"smollm2/smollm2-135m-instruct", 1000},
                                           ParityCase{"smollm2/smollm2-135m-instruct", 2500}),
                         CaseName);
INSTANTIATE_TEST_SUITE_P(MainVariants, Bfloat16Parity,
                         ::testing::ValuesIn(Cases("tiny/", kMainVariants, {64, 1000})), CaseName);
INSTANTIATE_TEST_SUITE_P(OtherVariants, Bfloat16Parity,
                         ::testing::ValuesIn(Cases("tiny/", kOtherVariants, {64, 1000})), CaseName);
INSTANTIATE_TEST_SUITE_P(SmolLM2, Bfloat16Parity,
                         ::testing::Values(ParityCase{"smollm2/smollm2-135m-instruct", 64},
                                           ParityCase{"smollm2/smollm2-135m-instruct", 1000}),
                         CaseName);

TEST(PackedBatch, GivesEverySampleWhatItGetsAlone) {
  for (const std::string name : {"llama_grouped", "qwen2_window", "qwen3_plain"}) {
    const auto model = LoadOrDie("tiny/" + name, ComputeType::kFloat32);
    ASSERT_NE(model, nullptr);
    std::vector<TokenIds> batch;
    for (const int64_t length : {64, 1, 1000, 2, 64}) {
      batch.push_back(ReadExpected("tiny/" + name, "f32", length).ids);
    }
    const auto together = model->Run(batch, {.prefix = 64});
    ASSERT_TRUE(together.ok()) << together.status();
    for (size_t s = 0; s < batch.size(); ++s) {
      const auto alone = model->Run({&batch[s], 1}, {.prefix = 64});
      ASSERT_TRUE(alone.ok()) << alone.status();
      const auto length = static_cast<int64_t>(batch[s].size());
      EXPECT_LE(LargestRelative((*together)[s].state_norm, alone->front().state_norm), 1e-5);
      EXPECT_LE(LargestRelative((*together)[s].mlp_norm, alone->front().mlp_norm), 1e-5);
      EXPECT_LE(
          LargestMeanDifference((*together)[s].attention_sum, alone->front().attention_sum, length),
          1e-5);
    }
  }
}

}  // namespace
}  // namespace sinkd::testing
