// The output head: next-token losses, and where the head comes from.
#include <filesystem>

#include <gtest/gtest.h>

#include "server/base/status.h"
#include "server/engine/intervention.h"
#include "server/engine/model.h"
#include "tests/engine/edited_samples.h"
#include "tests/engine/oracle_files.h"

namespace sinkd::testing {
namespace {

namespace fs = std::filesystem;

constexpr double kTolerance = 1e-4;  // relative

std::unique_ptr<Model> LoadOrDie(const fs::path& folder, const LoadOptions& options) {
  auto model = Model::Load(folder, options);
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *std::move(model) : nullptr;
}

class Loss : public ::testing::TestWithParam<const char*> {};

TEST_P(Loss, EqualsTransformersBeforeAndAfterEdits) {
  const EditedSample sample = ReadEditedSample(GetParam());
  for (const Residency residency : {Residency::kResident, Residency::kStreamed}) {
    const auto model = LoadOrDie(OracleFolder() / GetParam(),
                                 {.compute_type = ComputeType::kFloat32, .residency = residency});
    ASSERT_TRUE(model);
    const auto head = LoadHead(*model, {});
    ASSERT_TRUE(head.ok()) << head.status();
    const auto outcome = Intervene(*model, sample.ids, sample.Edits(), {.head = *head}, {});
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_NEAR(outcome->base.loss.value(), sample.base.loss, kTolerance * sample.base.loss);
    ASSERT_EQ(outcome->variants.size(), sample.variants.size());
    for (size_t v = 0; v < sample.variants.size(); ++v) {
      const double want = sample.variants[v].loss;
      EXPECT_NEAR(outcome->variants[v].loss.value(), want, kTolerance * want) << "variant " << v;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EditedCheckpoint, Loss, ::testing::ValuesIn(EditedCheckpoints()),
                         CheckpointName);

double BaseLoss(const Model& model, const TokenIds& ids) {
  const auto head = LoadHead(model, {});
  EXPECT_TRUE(head.ok()) << head.status();
  if (!head.ok()) return 0;
  const auto outcome = Intervene(model, ids, {}, {.head = *head}, {});
  EXPECT_TRUE(outcome.ok()) << outcome.status();
  return outcome.ok() ? outcome->base.loss.value_or(0) : 0;
}

TEST(Loss, IsThatOfTheSafetensorsFormWhereTheHeadLiesInAGgufFile) {
  const TokenIds ids = {1, 37, 74, 111, 148, 185, 222, 259};
  int compared = 0;
  for (const auto& entry : fs::directory_iterator(OracleFolder() / "gguf" / "models")) {
    const LoadOptions options{.compute_type = ComputeType::kFloat32};
    const auto gguf = LoadOrDie(entry.path() / "gguf", options);
    const auto other = LoadOrDie(entry.path() / "hf", options);
    ASSERT_TRUE(gguf && other);
    const double want = BaseLoss(*other, ids);
    EXPECT_GT(want, 1.0);
    EXPECT_NEAR(BaseLoss(*gguf, ids), want, kTolerance * want) << entry.path();
    compared += gguf->info().spec.tied_head ? 0 : 1;
  }
  EXPECT_GT(compared, 0) << "no GGUF model has a head of its own";
}

TEST(Loss, IsNearInBfloat16) {
  const EditedSample sample = ReadEditedSample("tiny/qwen2_plain");
  const auto model =
      LoadOrDie(OracleFolder() / "tiny/qwen2_plain", {.compute_type = ComputeType::kBfloat16});
  ASSERT_TRUE(model);
  EXPECT_NEAR(BaseLoss(*model, sample.ids), sample.base.loss, 0.02 * sample.base.loss);
}

TEST(Loss, OfOneTokenIsNone) {
  const auto model = LoadOrDie(OracleFolder() / "tiny/llama_tied", {});
  ASSERT_TRUE(model);
  const auto head = LoadHead(*model, {});
  ASSERT_TRUE(head.ok()) << head.status();
  const auto outcome = Intervene(*model, {5}, {}, {.head = *head}, {});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_FALSE(outcome->base.loss.has_value());
}

TEST(Head, ThatTheCheckpointLacksIsNamed) {
  for (const auto& [checkpoint, tensor] :
       {std::pair{"families/qwen3_no_head", "lm_head.weight"},
        std::pair{"families/llama_base_model", "lm_head.weight"}}) {
    const auto model = LoadOrDie(OracleFolder() / checkpoint, {});
    ASSERT_TRUE(model);
    const auto head = LoadHead(*model, {});
    EXPECT_EQ(head.status().code(), absl::StatusCode::kFailedPrecondition) << checkpoint;
    const auto detail = GetErrorDetail(head.status());
    ASSERT_TRUE(detail.has_value()) << head.status();
    EXPECT_EQ(detail->reason, "NO_HEAD");
    EXPECT_EQ(detail->subject, tensor);
  }
}

TEST(Head, OfACheckpointThatIsGoneIsRefusedWhileATiedOneNeedsNoFile) {
  const fs::path root = fs::path(::testing::TempDir()) / "sinkd_head_test";
  fs::remove_all(root);
  for (const char* name : {"qwen2_plain", "llama_tied"}) {
    fs::create_directories(root);
    fs::copy(OracleFolder() / "tiny" / name, root / name);
    const auto model = LoadOrDie(root / name, {});
    ASSERT_TRUE(model);
    fs::remove_all(root);
    const auto head = LoadHead(*model, {});
    if (model->info().spec.tied_head) {
      EXPECT_TRUE(head.ok()) << head.status();
    } else {
      EXPECT_EQ(head.status().code(), absl::StatusCode::kFailedPrecondition) << head.status();
    }
  }
}

}  // namespace
}  // namespace sinkd::testing
