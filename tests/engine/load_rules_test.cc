// What loading says of a checkpoint that is usable and odd, where its longest sample ends, and how
// much memory it takes.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/base/status.h"
#include "server/engine/model.h"
#include "tests/engine/oracle_files.h"
#include "tests/testing/process_memory.h"

namespace sinkd::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::unique_ptr<Model> LoadOrDie(const std::string& checkpoint) {
  auto model = Model::Load(OracleFolder() / checkpoint, {});
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *std::move(model) : nullptr;
}

std::vector<std::string> WarningsOf(const std::string& checkpoint) {
  const auto model = LoadOrDie(checkpoint);
  return model ? model->info().warnings : std::vector<std::string>{"does not load"};
}

TEST(LoadWarnings, AMissingUntiedHeadIsOne) {
  EXPECT_THAT(WarningsOf("families/qwen3_no_head"),
              ElementsAre(HasSubstr("there is no lm_head.weight, which only losses need")));
}

TEST(LoadWarnings, TensorsThatNothingReadsAreNamed) {
  EXPECT_THAT(WarningsOf("families/llama_extra_tensors"),
              ElementsAre(HasSubstr("tensors are not used: ")));
}

TEST(LoadWarnings, TiedHeadsInAnyFormAndOldBuffersAreNone) {
  for (const std::string name : {"llama_head_only", "opt_head_only", "gpt_neox_old_buffers",
                                 "gpt2_base_model", "llama_float8"}) {
    EXPECT_THAT(WarningsOf("families/" + name), IsEmpty()) << name;
  }
}

TEST(LoadWarnings, ATiedHeadThatDiffersFromTheEmbeddingIsNamed) {
  EXPECT_THAT(WarningsOf("families/qwen2_other_head"),
              ElementsAre(HasSubstr("tie_word_embeddings is true, but lm_head.weight differs")));
}

TEST(LearnedPositions, ASamplePastTheTableIsRefusedByValueAndLimit) {
  for (const std::string name : {"gpt2_plain", "opt_pre_norm"}) {
    const auto model = LoadOrDie("families/" + name);
    ASSERT_NE(model, nullptr);
    const int64_t limit = model->info().spec.max_positions;
    const TokenIds longest(static_cast<size_t>(limit), 5);
    EXPECT_TRUE(model->Run({&longest, 1}, {}).ok()) << name;
    const TokenIds past(static_cast<size_t>(limit) + 1, 5);
    const absl::Status status = model->Run({&past, 1}, {}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_THAT(std::string(status.message()), HasSubstr(std::to_string(limit) + " positions"));
    EXPECT_THAT(std::string(status.message()), HasSubstr(std::to_string(limit + 1) + " tokens"));
  }
}

TEST(LoadMemory, PeaksAtLittleMoreThanTheWeights) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers hold memory of their own";
#endif
  LoadOrDie("tiny/llama_grouped");  // so that the code it takes is there
  ForgetPeak();
  const double bare = StatusBytes("VmHWM");
  const auto model = LoadOrDie("smollm2/smollm2-135m-instruct");
  ASSERT_NE(model, nullptr);
  const auto weights = static_cast<double>(model->info().weight_bytes);
  EXPECT_GT(weights, 5e8);
  const double peak = StatusBytes("VmHWM") - bare;
  printf("peak over weights: %.3f\n", peak / weights);
  EXPECT_LE(peak, 1.15 * weights);
}

}  // namespace
}  // namespace sinkd::testing
