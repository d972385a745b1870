// The forward pass against transformers (eager) in float64, layer by layer, on random checkpoints
// of every family variant and on SmolLM2.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "tests/engine/oracle_files.h"
#include "tests/engine/parity_cases.h"
#include "tests/engine/state_recorder.h"

namespace sinkd::testing {
namespace {

constexpr double kBfloat16Slack = 1.2;

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

// The oracle fills up the last state of a decoder that projects its output to fewer channels.
at::Tensor StateLikeOracle(const StateRecorder& recorded, int64_t layer, const DecoderSpec& spec) {
  const at::Tensor& state = recorded.states()[static_cast<size_t>(layer)];
  return at::constant_pad_nd(state, {0, spec.hidden - state.size(1)});
}

class Float32Parity : public ::testing::TestWithParam<ParityCase> {};

TEST_P(Float32Parity, StatesAreAsExactAsTransformersAtEveryLayer) {
  const auto& checkpoint = GetParam().checkpoint;
  const auto model = LoadOrDie(checkpoint, ComputeType::kFloat32);
  ASSERT_NE(model, nullptr);
  const DecoderSpec& spec = model->info().spec;
  for (const int64_t length : GetParam().lengths) {
    SCOPED_TRACE(length);
    const ExpectedSample exact = ReadExpected(checkpoint, "f64", length);
    const ExpectedSample theirs = ReadExpected(checkpoint, "f32", length);
    const StateRecorder recorded = RecordStates(model->internals(), exact.ids);
    const std::vector<int64_t> all = {spec.blocks, length, spec.hidden};
    const at::Tensor want = AsTensor(exact.hidden, all);
    const double limit = Allowed(LargestRowDifference(AsTensor(theirs.hidden, all), want));
    double worst = 0;
    for (int64_t l = 0; l < spec.blocks; ++l) {
      const double difference = LargestRowDifference(StateLikeOracle(recorded, l, spec), want[l]);
      EXPECT_LE(difference, limit) << "resid_post of layer " << l;
      worst = std::max(worst, difference);
    }
    const at::Tensor last = AsTensor(exact.last_raw, {length, spec.hidden});
    const double raw = LargestRowDifference(recorded.last_raw(), last);
    EXPECT_LE(raw, Allowed(LargestRowDifference(AsTensor(theirs.last_raw, last.sizes()), last)))
        << "last layer before the final norm";
    printf("T %ld: resid_post %.2e of %.2e, before the final norm %.2e\n", length, worst, limit,
           raw);
  }
}

double LargestAbsolute(const std::vector<float>& got, const std::vector<float>& want) {
  EXPECT_EQ(got.size(), want.size());
  double largest = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    largest = std::max(largest, std::abs(double{got[i]} - want[i]));
  }
  return largest;
}

// The oracle has zeros for blocks without attention, which no block with attention can have.
std::vector<int32_t> BlocksWithAttention(const std::vector<float>& column_sum, int64_t blocks) {
  const auto values = static_cast<std::ptrdiff_t>(column_sum.size()) / blocks;
  std::vector<int32_t> attending;
  for (int64_t l = 0; l < blocks; ++l) {
    const auto first = column_sum.begin() + l * values;
    if (std::any_of(first, first + values, [](float sum) { return sum > 0; })) {
      attending.push_back(static_cast<int32_t>(l));
    }
  }
  return attending;
}

struct TraceErrors {
  double mlp, column, self, prefix;
};

TraceErrors ErrorsOf(const std::vector<float>& mlp, const std::vector<float>& column,
                     const std::vector<float>& self, const std::vector<float>& prefix,
                     const ExpectedSample& exact) {
  const auto length = static_cast<int64_t>(exact.ids.size());
  return {.mlp = LargestRelative(mlp, exact.mlp_norm),
          .column = LargestMeanDifference(column, exact.column_sum, length),
          .self = LargestMeanDifference(self, exact.attention_self, length),
          .prefix = LargestMeanDifference(prefix, exact.prefix64_column_sum,
                                          std::min<int64_t>(64, length))};
}

TEST_P(Float32Parity, TraceIsAsExactAsTransformers) {
  const auto& checkpoint = GetParam().checkpoint;
  const auto model = LoadOrDie(checkpoint, ComputeType::kFloat32);
  ASSERT_NE(model, nullptr);
  for (const int64_t length : GetParam().lengths) {
    SCOPED_TRACE(length);
    const ExpectedSample exact = ReadExpected(checkpoint, "f64", length);
    const ExpectedSample other = ReadExpected(checkpoint, "f32", length);
    const TokenIds batch[] = {exact.ids};
    const auto traces = model->Run(batch, {.prefix = 64});
    ASSERT_TRUE(traces.ok()) << traces.status();
    const Trace& trace = traces->front();
    const TraceErrors ours = ErrorsOf(trace.mlp_norm, trace.attention_sum, trace.attention_self,
                                      trace.prefix_attention_sum, exact);
    const TraceErrors theirs = ErrorsOf(other.mlp_norm, other.column_sum, other.attention_self,
                                        other.prefix64_column_sum, exact);
    EXPECT_EQ(trace.AttentionBlocks(), BlocksWithAttention(exact.column_sum, trace.layers));
    EXPECT_LE(LargestAbsolute(trace.gates, exact.gates),
              Allowed(LargestAbsolute(other.gates, exact.gates)))
        << "gates";
    EXPECT_LE(ours.mlp, Allowed(theirs.mlp)) << "mlp_out norm";
    EXPECT_LE(ours.column, Allowed(theirs.column)) << "attention column means";
    EXPECT_LE(ours.self, Allowed(theirs.self)) << "attention to self";
    EXPECT_LE(ours.prefix, Allowed(theirs.prefix)) << "column means of the first 64 tokens";
    printf("T %ld: mlp norm %.2e (%.2e), column means %.2e (%.2e), self %.2e, prefix %.2e\n",
           length, ours.mlp, theirs.mlp, ours.column, theirs.column, ours.self, ours.prefix);
  }
}

class Bfloat16Parity : public ::testing::TestWithParam<ParityCase> {};

TEST_P(Bfloat16Parity, IsNoFurtherFromFloat32ThanTransformersIs) {
  const auto& checkpoint = GetParam().checkpoint;
  const auto model = LoadOrDie(checkpoint, ComputeType::kBfloat16);
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->info().compute_type, "bfloat16");
  const DecoderSpec& spec = model->info().spec;
  for (const int64_t length : GetParam().bfloat16_lengths) {
    SCOPED_TRACE(length);
    const ExpectedSample exact = ReadExpected(checkpoint, "f64", length);
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
    printf("T %ld: largest distance over transformers' own: %.3f\n", length, worst_ratio);
  }
}

std::string TestName(const ::testing::TestParamInfo<ParityCase>& test) {
  return NameOf(test.param);
}

INSTANTIATE_TEST_SUITE_P(EveryCase, Float32Parity, ::testing::ValuesIn(ParityCases()), TestName);
INSTANTIATE_TEST_SUITE_P(SmolLM2, Float32Parity, ::testing::Values(SmolLM2()), TestName);
INSTANTIATE_TEST_SUITE_P(EveryCase, Bfloat16Parity, ::testing::ValuesIn(ParityCases()), TestName);
INSTANTIATE_TEST_SUITE_P(SmolLM2, Bfloat16Parity, ::testing::Values(SmolLM2()), TestName);

}  // namespace
}  // namespace sinkd::testing
