#include "server/models/checkpoint_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/models/failed_load.h"

namespace sinkd {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const fs::path kOracles = SINKD_ORACLE_DIR;

// A model root with links to two real checkpoints: one with tokenizer and chat template
// ("planted"), one of weights alone, stored in bfloat16 ("bare").
class CheckpointLoaderTest : public ::testing::Test {
 protected:
  CheckpointLoaderTest()
      : root_(fs::path(::testing::TempDir()) / fmt::format("checkpoints_{}", getpid())) {
    fs::create_directories(root_);
    fs::create_directory_symlink(kOracles / "planted" / "planted-table", root_ / "planted");
    fs::create_directory_symlink(kOracles / "tiny" / "llama_stored_bfloat16", root_ / "bare");
  }
  ~CheckpointLoaderTest() override { fs::remove_all(root_); }

  fs::path root_;
};

TEST_F(CheckpointLoaderTest, LoadsWeightsTokenizerAndTemplate) {
  Registry registry(root_, {});
  std::vector<LoadProgress> seen;
  const absl::StatusOr<ModelEntry> entry = registry.Load(
      "planted", {}, [&](const LoadProgress& progress) { seen.push_back(progress); }, {});
  ASSERT_TRUE(entry.ok()) << entry.status();
  EXPECT_TRUE(entry->has_chat_template);
  ASSERT_TRUE(entry->info.has_value());
  EXPECT_EQ(entry->info->compute_type, "float32");
  EXPECT_EQ(entry->spec->architecture, "qwen2");
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.back().bytes_done, seen.back().bytes_total);

  const absl::StatusOr<ModelHandle> handle = registry.Acquire("planted");
  ASSERT_TRUE(handle.ok()) << handle.status();
  ASSERT_NE((*handle)->tokenizer, nullptr) << (*handle)->tokenizer_problem;
  const std::vector<TokenIds> batch = {{0, 1, 2}};
  const auto traces = (*handle)->model->Run(batch, {});
  ASSERT_TRUE(traces.ok()) << traces.status();
  EXPECT_EQ(traces->at(0).positions, 3);
  EXPECT_EQ(traces->at(0).layers, entry->spec->blocks);
}

TEST_F(CheckpointLoaderTest, AFolderWithoutATokenizerStillLoadsAndSaysSo) {
  std::vector<int64_t> bytes;
  Registry registry(root_, {}, {}, [&](std::string_view, ModelState state, int64_t weight_bytes) {
    if (state == ModelState::kReady) bytes.push_back(weight_bytes);
  });
  const absl::StatusOr<ModelEntry> entry = registry.Load("bare", {}, {}, {});
  ASSERT_TRUE(entry.ok()) << entry.status();
  EXPECT_FALSE(entry->has_chat_template);
  ASSERT_FALSE(entry->info->warnings.empty());
  EXPECT_THAT(entry->info->warnings.back(), HasSubstr("only token ids"));
  const absl::StatusOr<ModelHandle> handle = registry.Acquire("bare");
  ASSERT_TRUE(handle.ok());
  EXPECT_EQ((*handle)->tokenizer, nullptr);
  EXPECT_NE((*handle)->tokenizer_problem, "");
  ASSERT_EQ(bytes.size(), 1u);
  EXPECT_EQ(bytes[0], entry->info->weight_bytes);
  EXPECT_GT(bytes[0], 0);
}

TEST_F(CheckpointLoaderTest, TheStoredTypeIsTheSameAsAskingForNone) {
  Registry registry(root_, {});
  ASSERT_EQ(registry.Load("bare", {}, {}, {})->info->compute_type, "bfloat16");
  EXPECT_TRUE(registry.Load("bare", {.compute_type = ComputeType::kBfloat16}, {}, {}).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(
      registry.Load("bare", {.compute_type = ComputeType::kFloat32}, {}, {}).status()));
  ASSERT_TRUE(registry.Unload("bare").ok());
  ASSERT_TRUE(registry.Load("bare", {.compute_type = ComputeType::kBfloat16}, {}, {}).ok());
  EXPECT_TRUE(registry.Load("bare", {}, {}, {}).ok());
}

TEST_F(CheckpointLoaderTest, AStoppedLoadIsCancelled) {
  Registry registry(root_, {});
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(absl::IsCancelled(registry.Load("bare", {}, {}, stop.get_token()).status()));
  EXPECT_EQ(registry.Get("bare")->state, ModelState::kAvailable);
}

TEST_F(CheckpointLoaderTest, ADeviceThatIsNotThereIsAFailureThatTellsWhich) {
  Registry registry(root_, {});
  const absl::Status error = registry.Load("bare", {.device = "cuda:99"}, {}, {}).status();
  EXPECT_FALSE(error.ok());
  EXPECT_THAT(std::string(error.message()), HasSubstr("cuda:99"));
  EXPECT_EQ(registry.Get("bare")->state, ModelState::kFailed);
}

TEST_F(CheckpointLoaderTest, AVocabularyPaddedBeyondTheTokenizerIsNormal) {
  const testing::LargeCheckpoint padded(root_ / "padded");
  fs::copy_file(kOracles / "planted" / "planted-table" / "tokenizer.json",
                root_ / "padded" / "tokenizer.json");
  Registry registry(root_, {});
  const absl::StatusOr<ModelEntry> entry = registry.Load("padded", {}, {}, {});
  ASSERT_TRUE(entry.ok()) << entry.status();
  EXPECT_THAT(entry->info->warnings, ::testing::IsEmpty());
  const absl::StatusOr<ModelHandle> handle = registry.Acquire("padded");
  ASSERT_TRUE(handle.ok());
  ASSERT_NE((*handle)->tokenizer, nullptr);
  const auto last = static_cast<int32_t>(entry->spec->vocabulary) - 1;
  EXPECT_GT(last, (*handle)->tokenizer->vocabulary_size());
  const std::vector<TokenIds> batch = {{0, last}};
  EXPECT_TRUE((*handle)->model->Run(batch, {}).ok());
}

}  // namespace
}  // namespace sinkd
