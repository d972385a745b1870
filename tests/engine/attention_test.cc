// Attention over strips against the plain formula: a whole T x T softmax in float64.
#include <limits>
#include <map>
#include <set>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "server/engine/forward/attention.h"
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
};

constexpr int64_t kHeadSize = 16;

at::Tensor PlainWeights(const AttentionInput& input) {
  const int64_t positions = input.q.size(0);
  const int64_t group = input.q.size(1) / input.k.size(1);
  const at::Tensor q = input.q.to(at::kDouble).transpose(0, 1);
  const at::Tensor k = input.k.to(at::kDouble).transpose(0, 1).repeat_interleave(group, 0);
  at::Tensor scores = at::matmul(q, k.transpose(1, 2)) * input.scale;
  if (input.cap > 0) scores = at::tanh(scores / input.cap) * input.cap;
  const at::Tensor query = at::arange(positions).unsqueeze(1);
  const at::Tensor key = at::arange(positions).unsqueeze(0);
  at::Tensor hidden = key > query;
  if (input.window > 0) hidden = hidden.logical_or(key <= query - input.window);
  scores = scores.masked_fill(hidden, -std::numeric_limits<double>::infinity());
  if (!input.sinks.defined()) return at::softmax(scores, -1);
  const at::Tensor sinks = input.sinks.to(at::kDouble).view({-1, 1, 1}).expand({-1, positions, 1});
  return at::softmax(at::cat({scores, sinks}, -1), -1).narrow(2, 0, positions);
}

// Puts the strips' weights together again.
class WholeWeights : public TapObserver {
 public:
  WholeWeights(int64_t heads, int64_t positions)
      : weights_(at::zeros({heads, positions, positions})) {}
  bool WantsAttention(int64_t) const override { return true; }
  void OnAttention(const AttentionStrip& strip) override {
    const at::Tensor part = strip.weights[0];
    weights_.narrow(0, strip.first_head, part.size(0))
        .narrow(1, strip.first_query, part.size(1))
        .narrow(2, strip.first_key, part.size(2))
        .copy_(part);
  }
  const at::Tensor& weights() const { return weights_; }

 private:
  at::Tensor weights_;
};

class AttentionStrips : public ::testing::TestWithParam<Case> {};

TEST_P(AttentionStrips, EqualTheWholeSoftmax) {
  const Case& c = GetParam();
  at::manual_seed(1);
  const AttentionInput input{.q = at::randn({c.positions, c.heads, kHeadSize}) * 3,
                             .k = at::randn({c.positions, c.kv_heads, kHeadSize}),
                             .v = at::randn({c.positions, c.kv_heads, kHeadSize}),
                             .sinks = c.sinks ? at::randn({c.heads}) : at::Tensor(),
                             .scale = 0.7,
                             .cap = c.cap,
                             .window = c.window};
  WholeWeights tap(c.heads, c.positions);
  const at::Tensor out = Attend(input, &tap, 0, 0);
  const at::Tensor weights = PlainWeights(input);
  EXPECT_LT((tap.weights() - weights).abs().max().item<double>(), 2e-5);
  const at::Tensor values =
      input.v.to(at::kDouble).transpose(0, 1).repeat_interleave(c.heads / c.kv_heads, 0);
  const at::Tensor expected =
      at::matmul(weights, values).transpose(0, 1).reshape({c.positions, c.heads * kHeadSize});
  EXPECT_LT((out - expected).abs().max().item<double>(), 2e-5);
}

AttentionInput Rows(const AttentionInput& all, int64_t first, int64_t rows) {
  AttentionInput some = all;
  for (at::Tensor* each : {&some.q, &some.k, &some.v}) *each = each->narrow(0, first, rows);
  some.samples = 1;
  return some;
}

class ShortSamples : public ::testing::TestWithParam<Case> {};

TEST_P(ShortSamples, GetTogetherWhatEachGetsAlone) {
  const Case& c = GetParam();
  constexpr int64_t kSamples = 3;
  at::manual_seed(2);
  const AttentionInput together{.q = at::randn({kSamples * c.positions, c.heads, kHeadSize}),
                                .k = at::randn({kSamples * c.positions, c.kv_heads, kHeadSize}),
                                .v = at::randn({kSamples * c.positions, c.kv_heads, kHeadSize}),
                                .sinks = c.sinks ? at::randn({c.heads}) : at::Tensor(),
                                .samples = kSamples,
                                .scale = 0.7,
                                .cap = c.cap,
                                .window = c.window};
  class Shown : public TapObserver {
   public:
    bool WantsAttention(int64_t) const override { return true; }
    void OnAttention(const AttentionStrip& strip) override {
      for (int64_t s = 0; s < strip.weights.size(0); ++s) {
        of_sample[strip.first_sample + s].push_back(strip.weights[s].clone());
      }
    }
    std::map<int64_t, std::vector<at::Tensor>> of_sample;
  } batch, alone;
  const at::Tensor out = Attend(together, &batch, 0, 0);
  const at::Tensor exact_values = together.v.to(at::kDouble).transpose(0, 1);
  for (int64_t s = 0; s < kSamples; ++s) {
    const AttentionInput one = Rows(together, s * c.positions, c.positions);
    const at::Tensor expected = Attend(one, &alone, 0, s);
    const at::Tensor got = out.narrow(0, s * c.positions, c.positions);
    // The libraries may sum in another order; both are what float64 gives, to some roundings.
    const at::Tensor values = exact_values.narrow(1, s * c.positions, c.positions)
                                  .repeat_interleave(c.heads / c.kv_heads, 0);
    const at::Tensor exact = at::matmul(PlainWeights(one), values)
                                 .transpose(0, 1)
                                 .reshape({c.positions, c.heads * kHeadSize});
    EXPECT_LT((got - exact).abs().max().item<double>(), 2e-5) << s;
    EXPECT_LT((expected - exact).abs().max().item<double>(), 2e-5) << s;
    ASSERT_EQ(batch.of_sample[s].size(), alone.of_sample[s].size());
    for (size_t i = 0; i < batch.of_sample[s].size(); ++i) {
      EXPECT_LT((batch.of_sample[s][i] - alone.of_sample[s][i]).abs().max().item<double>(), 2e-5);
      if (IgnoresThreads()) {
        EXPECT_TRUE(at::equal(batch.of_sample[s][i], alone.of_sample[s][i])) << s;
      }
    }
    if (IgnoresThreads()) {
      EXPECT_TRUE(at::equal(got, expected)) << s;
    }
  }
}

TEST(SamplesTogether, AreAsManyAsKeepTheirScoresSmall) {
  EXPECT_EQ(SamplesTogether(9, 64), 7);  // 9 * 64 * 64 scores of 2^18
  EXPECT_EQ(SamplesTogether(4, 255), 1);
  EXPECT_EQ(SamplesTogether(1, 256), 1) << "a long sample is enough by itself";
}

// The libraries keep a kernel for every width of a strip.
TEST(AttentionStripWidths, StayFewForLongSamples) {
  constexpr int64_t kPositions = 4100;
  const AttentionInput input{.q = at::randn({kPositions, 16, kHeadSize}),
                             .k = at::randn({kPositions, 1, kHeadSize}),
                             .v = at::randn({kPositions, 1, kHeadSize})};
  class Widths : public TapObserver {
   public:
    bool WantsAttention(int64_t) const override { return true; }
    void OnAttention(const AttentionStrip& strip) override { seen.insert(strip.weights.size(3)); }
    std::set<int64_t> seen;
  } tap;
  Attend(input, &tap, 0, 0);
  EXPECT_LE(tap.seen.size(), 34u);
}

// Head counts at which a strip has few queries, so that its keys are rounded up further.
INSTANTIATE_TEST_SUITE_P(
    Shapes, AttentionStrips,
    ::testing::Values(Case{"Short", 7, 4, 2}, Case{"OneStrip", 200, 4, 2},
                      Case{"SeveralStrips", 700, 8, 2}, Case{"ManyHeads", 1050, 32, 1},
                      Case{"ManyHeadsEach", 1050, 32, 32}, Case{"Window", 1050, 32, 1, 100},
                      Case{"WideWindow", 1050, 32, 4, 800}, Case{"Capped", 1050, 32, 1, 0, 5},
                      Case{"LearnedSinks", 1050, 32, 1, 0, 0, true},
                      Case{"LearnedSinksInAWindow", 1050, 32, 2, 300, 0, true}),
    [](const auto& instance) { return instance.param.name; });

INSTANTIATE_TEST_SUITE_P(Shapes, ShortSamples,
                         ::testing::Values(Case{"OneToken", 1, 4, 2}, Case{"OneStrip", 64, 9, 3},
                                           Case{"SeveralStrips", 200, 32, 8},
                                           Case{"Window", 200, 32, 8, 50},
                                           Case{"Capped", 64, 8, 8, 0, 5},
                                           Case{"LearnedSinks", 64, 8, 2, 0, 0, true},
                                           Case{"LearnedSinksInAWindow", 200, 32, 4, 90, 0, true}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace sinkd::testing
