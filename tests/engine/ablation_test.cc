// Edits of how blocks attend, and what the passes predict: against transformers in float64, and
// against passes without any.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/forward/linear.h"
#include "server/engine/intervention.h"
#include "tests/engine/edited_samples.h"
#include "tests/engine/oracle_files.h"

namespace sinkd::testing {
namespace {

std::unique_ptr<Model> LoadOrDie(const std::string& checkpoint, Residency residency) {
  auto model = Model::Load(OracleFolder() / checkpoint,
                           {.compute_type = ComputeType::kFloat32, .residency = residency});
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *std::move(model) : nullptr;
}

// The largest |got - want| over the larger of |want| and 1.
template <typename Values>
double Largest(const Values& got, const Values& want) {
  EXPECT_EQ(got.size(), want.size());
  double largest = 0;
  for (size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
    const double size = std::max(std::abs(double{want[i]}), 1.0);
    largest = std::max(largest, std::abs(double{got[i]} - want[i]) / size);
  }
  return largest;
}

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

void ExpectNear(const PassOutcome& got, const EditedPass& want) {
  constexpr double kTolerance = 1e-5;
  EXPECT_LE(Largest(got.trace.state_norm, want.state_norm), kTolerance);
  EXPECT_LE(Largest(got.predictions.losses, want.predictions.losses), kTolerance);
  EXPECT_NEAR(got.loss.value(), Mean(want.predictions.losses),
              kTolerance * std::max(1.0, Mean(want.predictions.losses)));
  ASSERT_EQ(got.predictions.choices.size(), want.predictions.choices.size());
  for (size_t t = 0; t < want.predictions.choices.size(); ++t) {
    if (want.predictions.choices[t] < 0) continue;
    EXPECT_EQ(got.predictions.choices[t], want.predictions.choices[t]) << t;
  }
  // Where logits are in the hundreds, float32 loses more than that.
  const double bound = std::max(1e-6, 4 * want.divergence_error);
  for (size_t t = 0; t < got.predictions.divergence.size(); ++t) {
    EXPECT_NEAR(got.predictions.divergence[t], want.predictions.divergence[t], bound) << t;
  }
  if (want.column_sum.empty()) return;
  EXPECT_LE(Largest(got.trace.attention_sum, want.column_sum), kTolerance);
}

class Ablation : public ::testing::TestWithParam<const char*> {};

TEST_P(Ablation, GivesWhatTransformersGivesInFloat64) {
  const EditedSample sample = ReadAblatedSample(GetParam());
  for (const Residency residency : {Residency::kResident, Residency::kStreamed}) {
    const auto model = LoadOrDie(GetParam(), residency);
    ASSERT_TRUE(model);
    const auto head = LoadHead(*model, {});
    ASSERT_TRUE(head.ok()) << head.status();
    const auto outcome =
        Intervene(*model, sample.ids, sample.Edits(), {.head = *head, .predictions = true}, {});
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    ExpectNear(outcome->base, sample.base);
    ASSERT_EQ(outcome->variants.size(), sample.variants.size());
    for (size_t v = 0; v < sample.variants.size(); ++v) {
      SCOPED_TRACE(StrCat("variant ", v));
      ExpectNear(outcome->variants[v], sample.variants[v]);
    }
  }
}

// What the last position alone attends to, no other can see anyway.
TEST_P(Ablation, OfNothingIsBitEqualToThePlainPass) {
  const EditedSample sample = ReadAblatedSample(GetParam());
  const auto model = LoadOrDie(GetParam(), Residency::kResident);
  ASSERT_TRUE(model);
  const auto head = LoadHead(*model, {});
  ASSERT_TRUE(head.ok()) << head.status();
  const auto last = static_cast<int64_t>(sample.ids.size()) - 1;
  std::vector<Variant> variants(3);
  for (int64_t block = 0; block < model->info().spec.blocks; ++block) {
    variants[1].push_back(
        {.block = block, .positions = {last}, .action = EditAction::kHideKeys, .vector = {}});
  }
  variants[2].push_back(
      {.block = 1, .positions = {}, .action = EditAction::kZeroHeads, .vector = {}});
  const auto outcome =
      Intervene(*model, sample.ids, variants, {.head = *head, .predictions = true}, {});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  const PassOutcome& base = outcome->base;
  for (const PassOutcome& variant : outcome->variants) {
    if (IgnoresThreads()) {
      EXPECT_EQ(variant.trace.state_norm, base.trace.state_norm);
      EXPECT_EQ(variant.trace.mlp_norm, base.trace.mlp_norm);
      EXPECT_EQ(variant.trace.attention_sum, base.trace.attention_sum);
      EXPECT_EQ(variant.predictions.losses, base.predictions.losses);
      EXPECT_EQ(variant.loss, base.loss);
    }
    EXPECT_EQ(variant.predictions.choices, base.predictions.choices);
    for (const double divergence : variant.predictions.divergence)
      EXPECT_NEAR(divergence, 0, 1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(AblatedCheckpoint, Ablation, ::testing::ValuesIn(AblatedCheckpoints()),
                         CheckpointName);

TEST(Ablation, RunsFromTheBlockThatItEdits) {
  const auto model = LoadOrDie("tiny/llama_grouped", Residency::kResident);
  ASSERT_TRUE(model);
  const int64_t blocks = model->info().spec.blocks;
  const TokenIds ids = {1, 5, 7, 9, 11, 13};
  const Variant variants[] = {
      {{.block = 2, .positions = {0}, .action = EditAction::kHideKeys, .vector = {}}}};
  auto outcome = Intervene(*model, ids, variants, {}, {});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->block_rows, 6 * (blocks + blocks - 2));
  const auto head = LoadHead(*model, {});
  ASSERT_TRUE(head.ok()) << head.status();
  outcome = Intervene(*model, ids, variants, {.head = *head, .predictions = true}, {});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->block_rows, 6 * (2 * blocks + blocks - 2)) << "one pass to compare with";
}

TEST(Ablation, OfAnotherModelIsRefused) {
  const auto code = [](const char* checkpoint, const Edit& edit) {
    const auto model = LoadOrDie(checkpoint, Residency::kResident);
    const Variant variants[] = {{edit}};
    return GetErrorDetail(Intervene(*model, {1, 5, 7}, variants, {}, {}).status())
        .value_or(ErrorDetail())
        .reason;
  };
  const Edit heads{
      .block = 1, .positions = {0}, .action = EditAction::kOneKey, .vector = {}, .heads = {64}};
  EXPECT_EQ(code("tiny/llama_grouped", heads), "HEAD_OUT_OF_RANGE");
  const Edit keys{
      .block = 1, .positions = {0, 1}, .action = EditAction::kOneKey, .vector = {}, .heads = {0}};
  EXPECT_EQ(code("tiny/llama_grouped", keys), "SEVERAL_KEYS");
  const Edit hidden{.block = 0, .positions = {0}, .action = EditAction::kHideKeys, .vector = {}};
  EXPECT_EQ(code("decoders/lfm2_convolutions", hidden), "NO_ATTENTION");
}

}  // namespace
}  // namespace sinkd::testing
