// Attention against the plain formula: a whole T x T softmax in float64.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/engine/forward/attention.h"
#include "server/engine/forward/attention_by_calls.h"
#include "server/engine/forward/attention_sums.h"
#include "server/engine/forward/attention_way.h"
#include "server/engine/forward/fused_attention.h"
#include "server/engine/forward/linear.h"

namespace sinkd::testing {
namespace {

struct Case {
  const char* name;
  int64_t positions;
  int64_t heads;
  int64_t kv_heads;
  int64_t window = 0;
  double cap = 0;
  bool sinks = false;
  int64_t chunk = 0;
  bool bias = false;
  bool hidden = false;
  int64_t head_size = 16;
  int64_t value_size = 16;
};

constexpr int64_t kPrefix = 70;

at::Tensor PlainWeights(const AttentionInput& input) {
  const int64_t positions = input.q.size(0);
  const int64_t group = input.q.size(1) / input.k.size(1);
  const at::Tensor q = input.q.to(at::kDouble).transpose(0, 1);
  const at::Tensor k = input.k.to(at::kDouble).transpose(0, 1).repeat_interleave(group, 0);
  at::Tensor scores = at::matmul(q, k.transpose(1, 2)) * input.scale;
  if (input.cap > 0) scores = at::tanh(scores / input.cap) * input.cap;
  if (input.key_bias.defined()) {
    const at::Tensor bias = input.key_bias.to(at::kDouble);
    scores = scores + bias.unsqueeze(1) - bias.unsqueeze(2);  // learned sinks are at no distance
  }
  const at::Tensor query = at::arange(positions).unsqueeze(1);
  const at::Tensor key = at::arange(positions).unsqueeze(0);
  at::Tensor hidden = key > query;
  if (input.window > 0) hidden = hidden.logical_or(key <= query - input.window);
  if (input.chunk > 0) hidden = hidden.logical_or(key < query - query % input.chunk);
  if (input.hidden.defined()) {
    hidden = hidden.logical_or((input.hidden < 0).unsqueeze(0).logical_and(query != key));
  }
  scores = scores.masked_fill(hidden, -std::numeric_limits<double>::infinity());
  if (!input.sinks.defined()) return at::softmax(scores, -1);
  const at::Tensor sinks = input.sinks.to(at::kDouble).view({-1, 1, 1}).expand({-1, positions, 1});
  return at::softmax(at::cat({scores, sinks}, -1), -1).narrow(2, 0, positions);
}

// Keeps the sums.
class Sums : public TapObserver {
 public:
  explicit Sums(int64_t prefix = 0) : prefix_(prefix) {}
  bool WantsAttention(int64_t) const override { return true; }
  int64_t AttentionPrefix() const override { return prefix_; }
  void OnAttention(int64_t, int64_t first_sample, const AttentionSums& sums) override {
    shown.emplace(first_sample, sums);
  }
  const AttentionSums& only() const { return shown.begin()->second; }

  std::map<int64_t, AttentionSums> shown;  // by first sample

 private:
  int64_t prefix_;
};

// Every third key.
at::Tensor HiddenKeys(int64_t positions) {
  return at::zeros({positions}).masked_fill_(at::arange(positions) % 3 == 1, -INFINITY);
}

AttentionInput Random(const Case& c, int64_t samples, double size) {
  const int64_t rows = samples * c.positions;
  const auto random = [&](int64_t heads, int64_t channels) {
    return at::randn({rows, heads, channels});
  };
  AttentionInput input = {
      .q = random(c.heads, c.head_size) * size,
      .k = random(c.kv_heads, c.head_size),
      .v = random(c.kv_heads, c.value_size),
      .sinks = c.sinks ? at::randn({c.heads}) : at::Tensor(),
      .samples = samples,
      .scale = 0.7,
      .cap = c.cap,
      .window = c.window,
      .chunk = c.chunk,
      .key_bias = c.bias ? at::randn({c.heads, 1}) * 0.05 * at::arange(c.positions) : at::Tensor(),
      .hidden = c.hidden ? HiddenKeys(c.positions) : at::Tensor()};
  if (!c.hidden) input.tokens = at::randint(0, 9, {rows}, at::kInt);
  return input;
}

double Difference(const at::Tensor& a, const at::Tensor& b) {
  return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

// [T, H E], of weights [H, T, T].
at::Tensor PlainOutput(const AttentionInput& input, const at::Tensor& weights) {
  const int64_t group = input.q.size(1) / input.k.size(1);
  const at::Tensor values = input.v.to(at::kDouble).transpose(0, 1).repeat_interleave(group, 0);
  return at::matmul(weights, values).transpose(0, 1).flatten(1);
}

// [H, kRowSums], of weights [H, T, T] in float64.
at::Tensor PlainRows(const at::Tensor& weights, const at::Tensor& tokens) {
  const at::Tensor visible = weights.gt(0).sum(2).to(at::kDouble);  // no weight is 0 for its size
  const at::Tensor several = visible.gt(1).to(at::kDouble);
  const at::Tensor shares = weights / weights.sum(2, /*keepdim=*/true);
  const at::Tensor entropy = -at::xlogy(shares, shares).sum(2) / visible.clamp_min(2).log();
  const at::Tensor same = tokens.unsqueeze(1).eq(tokens.unsqueeze(0)).to(at::kDouble).tril(-1);
  return at::stack({(entropy * several).sum(1), (weights.amax(2) * several).sum(1),
                    weights.diagonal(-1, 1, 2).sum(1), (weights * same).sum({1, 2})},
                   1);
}

void ExpectRows(const AttentionSums& sums, const AttentionInput& input, const at::Tensor& weights,
                double tolerance) {
  ASSERT_EQ(sums.rows.defined(), input.tokens.defined());
  if (!sums.rows.defined()) return;
  const auto positions = static_cast<double>(weights.size(1));
  EXPECT_LT(Difference(sums.rows[0], PlainRows(weights, input.tokens)), tolerance * positions);
}

void ExpectSums(const AttentionSums& sums, const at::Tensor& weights, double tolerance) {
  const int64_t positions = weights.size(1);
  const at::Tensor counts = at::arange(positions, 0, -1, at::kDouble);  // queries that see a key
  EXPECT_LT(Difference(sums.column[0] / counts, weights.sum(1) / counts), tolerance);
  EXPECT_LT(Difference(sums.self[0], weights.diagonal(0, 1, 2)), tolerance);
  const int64_t prefix = sums.prefix.size(2);
  ASSERT_EQ(prefix, std::min<int64_t>(kPrefix, positions));
  const at::Tensor first = weights.narrow(1, 0, prefix).narrow(2, 0, prefix).sum(1);
  EXPECT_LT(Difference(sums.prefix[0], first), tolerance * static_cast<double>(prefix));
  if (!sums.sink_mass.defined()) return;
  const at::Tensor mass = static_cast<double>(positions) - weights.sum({1, 2});
  EXPECT_LT(Difference(sums.sink_mass[0], mass), tolerance * static_cast<double>(positions));
}

class AttentionOf : public ::testing::TestWithParam<Case> {};

// float32's own error in a score of up to a hundred.
constexpr double kTolerance = 2e-5;

TEST_P(AttentionOf, OneSampleIsTheWholeSoftmax) {
  at::manual_seed(1);
  const AttentionInput input = Random(GetParam(), 1, 3);
  const at::Tensor weights = PlainWeights(input);
  const at::Tensor expected = PlainOutput(input, weights);
  Sums tap(kPrefix);
  EXPECT_LT(Difference(Attend(input, &tap, 0, 0), expected), kTolerance);
  ExpectSums(tap.only(), weights, kTolerance);
  ExpectRows(tap.only(), input, weights, kTolerance);
  AttentionSums sums(1, input.q.size(1), input.q.size(0), kPrefix, input.sinks.defined(), at::kCPU,
                     input.tokens.defined());
  EXPECT_LT(Difference(AttendInStrips(input, &sums), expected), kTolerance);
  ExpectSums(sums, weights, kTolerance);
  ExpectRows(sums, input, weights, kTolerance);
}

at::Tensor Rounded(const at::Tensor& values) {
  return values.to(at::kBFloat16).to(at::kFloat);
}

TEST_P(AttentionOf, NarrowNumbersIsTheWholeSoftmaxOfRoundedOnes) {
  at::manual_seed(1);
  AttentionInput input = Random(GetParam(), 1, 3);
  input.narrow = true;
  if (!NarrowsAttentionOnCpu()) GTEST_SKIP() << "no bfloat16 products here";
  AttentionInput rounded = input;
  for (at::Tensor* each : {&rounded.q, &rounded.k, &rounded.v}) *each = Rounded(*each);
  const at::Tensor weights = PlainWeights(rounded);
  Sums tap(kPrefix);
  const at::Tensor out = Attend(input, &tap, 0, 0);
  ExpectSums(tap.only(), weights, kTolerance);
  ExpectRows(tap.only(), input, weights, kTolerance);
  // Weights are rounded before they meet the values: each by at most 2^-8 of itself.
  const at::Tensor bound = PlainOutput({.q = input.q, .k = input.k, .v = rounded.v.abs()}, weights);
  const at::Tensor excess = (out - PlainOutput(rounded, weights)).abs() - bound / 256;
  EXPECT_LT(excess.max().item<double>(), kTolerance);
}

class FusedCalls : public ::testing::TestWithParam<Case> {};

// The error of single weights by the CPU's call in bfloat16, from that of its log-sum-exps.
constexpr double kFlashInBfloat16 = 1e-4;

// A unit in the last place of the largest score: it and its log-sum-exp are each rounded by half.
double Rounding(double largest) {
  return largest * std::numeric_limits<float>::epsilon();
}

// libtorch's call for the CPU packs bfloat16 numbers for instructions that others lack, and throws.
std::vector<bool> TypesOfCalls() {
  return NarrowsAttentionOnCpu() ? std::vector<bool>{false, true} : std::vector<bool>{false};
}

// Scores of up to `largest`; queries, keys and values are numbers of `type`.
AttentionInput LargeScores(const Case& c, double largest, at::ScalarType type) {
  at::manual_seed(3);
  AttentionInput input = Random(c, 1, 1);
  const int64_t group = c.heads / c.kv_heads;
  const at::Tensor keys = input.k.transpose(0, 1).repeat_interleave(group, 0);
  const at::Tensor scores = at::matmul(input.q.transpose(0, 1), keys.transpose(1, 2));
  input.q *= largest / (input.scale * scores.abs().max().item<double>());
  for (at::Tensor* each : {&input.q, &input.k, &input.v}) *each = each->to(type).to(at::kFloat);
  return input;
}

TEST_P(FusedCalls, GiveTheSumsOfTheWholeSoftmax) {
  for (const bool bfloat16 : TypesOfCalls()) {
    for (const double largest : {13, 475}) {
      SCOPED_TRACE(::testing::Message() << (bfloat16 ? "bfloat16, " : "float32, ") << largest);
      const FusedCall& call = *FindFusedCall(at::kCPU, bfloat16, GetParam().head_size);
      const AttentionInput input = LargeScores(GetParam(), largest, call.type);
      const at::Tensor weights = PlainWeights(input);
      const int64_t positions = weights.size(1);
      AttentionSums sums(1, weights.size(0), positions, kPrefix, input.sinks.defined(), at::kCPU);
      const at::Tensor out = AttendByCalls(call, input, &sums);
      const at::Tensor counts = at::arange(positions, 0, -1, at::kDouble);
      const double difference = Difference(sums.column[0] / counts, weights.sum(1) / counts);
      EXPECT_LT(difference, std::max(bfloat16 ? 1e-5 : 2e-6, Rounding(largest)));
      const double of_one = bfloat16 ? kFlashInBfloat16 : kTolerance;
      ExpectSums(sums, weights, std::max(of_one, 2 * Rounding(largest)));
      // In bfloat16 weights and the output are rounded, by 1/512 each.
      const double unit = input.v.abs().max().item<double>();
      const double rounding = bfloat16 ? unit / 128 : std::max(kTolerance, 2 * Rounding(largest));
      EXPECT_LT(Difference(out, PlainOutput(input, weights)), rounding);
    }
  }
}

// What libtorch does meanwhile, by the names of its operations.
std::map<std::string, int> Operations(const std::function<void()>& work) {
  static std::map<std::string, int> counts;
  counts.clear();
  const auto handle = at::addThreadLocalCallback(at::RecordFunctionCallback(
      [](const at::RecordFunction& function) -> std::unique_ptr<at::ObserverContext> {
        ++counts[function.name()];
        return nullptr;
      }));
  work();
  at::removeCallback(handle);
  return counts;
}

TEST_P(FusedCalls, AreTwoAndNothingWaitsForTheDevice) {
  const FusedCall& call = *FindFusedCall(at::kCPU, false, GetParam().head_size);
  const AttentionInput input = Random(GetParam(), 3, 1);
  AttentionSums sums(3, input.q.size(1), GetParam().positions, kPrefix, input.sinks.defined(),
                     at::kCPU);
  const auto operations = Operations([&] { AttendByCalls(call, input, &sums); });
  EXPECT_EQ(operations.at("aten::_scaled_dot_product_flash_attention_for_cpu"), 2);
  for (const char* waits : {"aten::item", "aten::_local_scalar_dense", "aten::nonzero",
                            "aten::is_nonzero", "aten::equal", "aten::masked_select"}) {
    EXPECT_FALSE(operations.contains(waits)) << waits;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, FusedCalls,
    ::testing::Values(Case{"OneToken", 1, 4, 2}, Case{"SevenTokens", 7, 4, 2},
                      Case{"Short", 64, 9, 3}, Case{"Long", 700, 4, 2}, Case{"Longer", 2048, 2, 1},
                      Case{"Window", 700, 4, 2, 100}, Case{"LearnedSinks", 700, 4, 2, 0, 0, true},
                      Case{"LearnedSinksInAWindow", 300, 4, 1, 50, 0, true},
                      Case{"OddHeads", 300, 4, 2, 0, 0, false, 0, false, false, 27, 19}),
    [](const auto& instance) { return instance.param.name; });

TEST(FusedCallsOfDevices, FollowFormatAndHeadSize) {
  EXPECT_EQ(FindFusedCall(at::kCUDA, true, 128)->type, at::kBFloat16);
  EXPECT_EQ(FindFusedCall(at::kCUDA, false, 128)->type, at::kFloat);
  EXPECT_EQ(FindFusedCall(at::kCUDA, true, 256), nullptr) << "no room for further channels";
  EXPECT_NE(FindFusedCall(at::kCUDA, false, 256), nullptr);
  EXPECT_EQ(FindFusedCall(at::kMPS, false, 128), nullptr);
}

TEST(FusedCallsOfDevices, AreTheCallsOfThisLibtorch) {
  for (const auto device : {at::kCPU, at::kCUDA}) {
    for (const bool bfloat16 : {false, true}) {
      EXPECT_TRUE(HasKnownSchema(*FindFusedCall(device, bfloat16, 64)));
    }
  }
}

TEST(FusedCallsOfDevices, AreTriedBeforeTheyAreUsed) {
  for (const bool bfloat16 : TypesOfCalls()) {
    EXPECT_EQ(FaultOf(*FindFusedCall(at::kCPU, bfloat16, 64), at::kCPU), "");
  }
  FusedCall wrong = *FindFusedCall(at::kCPU, false, 64);
  wrong.run = [](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, double scale,
                 int64_t window) {
    FusedCall::Output output = FindFusedCall(at::kCPU, false, 64)->run(q, k, v, scale, window);
    output.lse = output.lse * 1.01;
    return output;
  };
  EXPECT_THAT(FaultOf(wrong, at::kCPU), ::testing::HasSubstr("differs from strips by 0."));
  FusedCall absent = *FindFusedCall(at::kCUDA, false, 64);
  EXPECT_NE(FaultOf(absent, at::kCPU), "") << "no such operation on a CPU";
}

TEST(Ways, FollowDeviceAndModel) {
  using Kind = AttentionWay::Kind;
  AttentionTraits traits{.device = at::kCUDA, .bfloat16 = true, .channels = 128};
  EXPECT_EQ(WayOf(traits).kind, Kind::kTwoCalls);
  traits.obstacle = "a soft cap";
  EXPECT_EQ(WayOf(traits).kind, Kind::kStrips);
  traits = {.device = at::kCUDA, .channels = 128, .scale = -1};
  EXPECT_EQ(WayOf(traits).kind, Kind::kStrips);
  traits = {.channels = 128, .obstacle = "a soft cap"};
  EXPECT_EQ(WayOf(traits).kind, FusesAttentionOnCpu() ? Kind::kFusedOnCpu : Kind::kStrips);
}

AttentionInput Rows(const AttentionInput& all, int64_t first, int64_t rows) {
  AttentionInput some = all;
  for (at::Tensor* each : {&some.q, &some.k, &some.v}) *each = each->narrow(0, first, rows);
  if (all.tokens.defined()) some.tokens = all.tokens.narrow(0, first, rows);
  some.samples = 1;
  return some;
}

class ShortSamples : public ::testing::TestWithParam<Case> {};

TEST_P(ShortSamples, GetTogetherWhatEachGetsAlone) {
  const Case& c = GetParam();
  constexpr int64_t kSamples = 3;
  at::manual_seed(2);
  const AttentionInput together = Random(c, kSamples, 1);
  Sums batch(kPrefix);
  const at::Tensor out = Attend(together, &batch, 0, 0);
  for (int64_t s = 0; s < kSamples; ++s) {
    const AttentionInput one = Rows(together, s * c.positions, c.positions);
    Sums alone(kPrefix);
    const at::Tensor expected = Attend(one, &alone, 0, s);
    const at::Tensor got = out.narrow(0, s * c.positions, c.positions);
    // The libraries may sum in another order; both are what float64 gives, to some roundings.
    const at::Tensor exact = PlainOutput(one, PlainWeights(one));
    EXPECT_LT(Difference(got, exact), kTolerance) << s;
    EXPECT_LT(Difference(expected, exact), kTolerance) << s;
    const bool fused = WayOf(TraitsOf(one)).kind == AttentionWay::Kind::kFusedOnCpu;
    const bool same = fused || IgnoresThreads();
    const auto compare = [&](const at::Tensor& all, const at::Tensor& single) {
      if (!all.defined()) return;
      EXPECT_LT(Difference(all[s] / c.positions, single[0] / c.positions), kTolerance) << s;
      EXPECT_TRUE(!same || at::equal(all[s], single[0])) << s;
    };
    compare(batch.only().column, alone.only().column);
    compare(batch.only().self, alone.only().self);
    compare(batch.only().prefix, alone.only().prefix);
    compare(batch.only().sink_mass, alone.only().sink_mass);
    compare(batch.only().rows, alone.only().rows);
    EXPECT_TRUE(!same || at::equal(got, expected)) << s;
  }
}

TEST(SamplesTogether, AreAsManyAsKeepTheirScoresSmall) {
  EXPECT_EQ(SamplesTogether(9, 64), 7);  // 9 * 64 * 64 scores of 2^18
  EXPECT_EQ(SamplesTogether(4, 255), 1);
  EXPECT_EQ(SamplesTogether(1, 256), 1) << "a long sample is enough by itself";
}

// Head counts at which a strip has few queries, so that its keys are rounded up further.
INSTANTIATE_TEST_SUITE_P(
    Shapes, AttentionOf,
    ::testing::Values(Case{"Short", 7, 4, 2}, Case{"OneStrip", 200, 4, 2},
                      Case{"SeveralStrips", 700, 8, 2}, Case{"ManyHeads", 1050, 32, 1},
                      Case{"ManyHeadsEach", 1050, 32, 32}, Case{"Window", 1050, 32, 1, 100},
                      Case{"WideWindow", 1050, 32, 4, 800}, Case{"Capped", 1050, 32, 1, 0, 5},
                      Case{"LearnedSinks", 1050, 32, 1, 0, 0, true},
                      Case{"LearnedSinksInAWindow", 1050, 32, 2, 300, 0, true},
                      Case{"Chunks", 700, 8, 2, 0, 0, false, 150},
                      Case{"DistanceBias", 700, 8, 8, 0, 0, false, 0, true},
                      Case{"DistanceBiasAndLearnedSinks", 300, 4, 4, 0, 0, true, 0, true},
                      Case{"HiddenKeys", 300, 4, 2, 0, 0, false, 0, false, true},
                      Case{"OddHeads", 300, 4, 2, 0, 0, false, 0, false, false, 27, 19},
                      Case{"OneToken", 1, 4, 2}),
    [](const auto& instance) { return instance.param.name; });

INSTANTIATE_TEST_SUITE_P(Shapes, ShortSamples,
                         ::testing::Values(Case{"OneToken", 1, 4, 2}, Case{"OneStrip", 64, 9, 3},
                                           Case{"SeveralStrips", 200, 32, 8},
                                           Case{"Window", 200, 32, 8, 50},
                                           Case{"Capped", 64, 8, 8, 0, 5},
                                           Case{"LearnedSinks", 64, 8, 2, 0, 0, true},
                                           Case{"LearnedSinksInAWindow", 200, 32, 4, 90, 0, true}),
                         [](const auto& instance) { return instance.param.name; });

// Head 0 attends to all keys alike; head 1 gives the first key kShare times what each other gets.
TEST(RowSums, OfPlantedHeadsAreKnown) {
  constexpr int64_t kPositions = 150;
  constexpr double kShare = 50;
  at::Tensor q = at::zeros({kPositions, 2, 16}), k = at::zeros({kPositions, 2, 16});
  q.select(1, 1).select(1, 0).fill_(std::log(kShare));
  k[0].fill_(1);
  const AttentionInput input{.q = q,
                             .k = k,
                             .v = at::randn({kPositions, 2, 16}),
                             .tokens = at::full({kPositions}, 7, at::kInt)};
  const at::Tensor before = at::arange(kPositions, at::kDouble);  // keys before each query
  const auto after_first = [&](const at::Tensor& rows) {
    return rows.narrow(0, 1, kPositions - 1).sum().item<double>();
  };
  const at::Tensor even = 1 / (before + 1);
  const at::Tensor first = kShare / (kShare + before);
  const at::Tensor other = 1 / (kShare + before);
  const at::Tensor entropy =
      -(first * first.log() + before * other * other.log()) / (before + 1).log();
  const at::Tensor want =
      at::tensor({double{kPositions - 1}, after_first(even), after_first(even),
                  after_first(before * even), after_first(entropy), after_first(first),
                  after_first(other) - other[1].item<double>() + first[1].item<double>(),
                  after_first(first + (before - 1) * other)},
                 at::kDouble);
  Sums tap;
  Attend(input, &tap, 0, 0);
  EXPECT_LT(Difference(tap.only().rows.flatten(), want), 1e-6 * kPositions);
  EXPECT_NEAR(tap.only().column[0][1][0].item<double>(), first.sum().item<double>(), 1e-4);
}

}  // namespace
}  // namespace sinkd::testing
