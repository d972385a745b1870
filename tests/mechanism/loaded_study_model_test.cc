// Every step of a study holds what it takes of the memory budget.
#include "server/mechanism/loaded_study_model.h"

#include <filesystem>
#include <functional>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "server/base/status.h"
#include "server/engine/memory_estimate.h"
#include "server/models/checkpoint_loader.h"
#include "tests/testing/large_checkpoint.h"

namespace sinkd {
namespace {

namespace fs = std::filesystem;

class StudyMemory : public ::testing::Test {
 protected:
  using Step = std::function<absl::Status(const StudyModel&)>;

  StudyMemory()
      : folder_(fs::path(::testing::TempDir()) / fmt::format("study_memory_{}", getpid())) {
    testing::LargeCheckpoint(folder_, {.width = 64, .units = 128, .vocabulary = 100});
    absl::StatusOr<LoadedModel> loaded = LoadCheckpoint(folder_, {}, {}, {});
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    model_ = std::make_shared<const LoadedModel>(*std::move(loaded));
  }
  ~StudyMemory() override { fs::remove_all(folder_); }

  // With a byte less than `least` the step is refused, with enough it runs and gives all back.
  void Expect(const Step& step, int64_t least) const {
    const auto tight = std::make_shared<MemoryBudget>(DeviceBytes{{"cpu", least - 1}});
    const absl::Status refused = step(LoadedStudyModel(model_, tight));
    ASSERT_TRUE(absl::IsResourceExhausted(refused)) << refused;
    EXPECT_EQ(GetErrorDetail(refused)->reason, "MEMORY_BUDGET");
    const auto wide = std::make_shared<MemoryBudget>(DeviceBytes{{"cpu", 100 * least}});
    const absl::Status done = step(LoadedStudyModel(model_, wide));
    EXPECT_TRUE(done.ok()) << done;
    EXPECT_EQ(wide->Snapshot()[0].running_bytes, 0);
  }
  int64_t PassBytes(const std::vector<int64_t>& lengths) const {
    const ModelInfo& info = model_->model->info();
    return ForwardBytes(info.spec, info.compute_type, info.device, lengths);
  }

  const fs::path folder_;
  const TokenIds ids_ = TokenIds(50, 7);
  std::shared_ptr<const LoadedModel> model_;
};

TEST_F(StudyMemory, IsHeldForPassesCapturesAndMeasures) {
  const int64_t pass = PassBytes({50});
  Expect([&](const StudyModel& m) { return m.Run({&ids_, 1}, {}, {}).status(); }, pass);
  Expect([&](const StudyModel& m) { return m.MeasureNorms(ids_, {}).status(); }, pass);
  Expect([&](const StudyModel& m) { return m.FindLargeEntries(ids_, 3, {}, {}).status(); }, pass);
  const std::vector<std::vector<int64_t>> windows = {{0, 1, 2}};
  Expect([&](const StudyModel& m) { return m.MeasureEntropy(ids_, windows, 1, {}).status(); },
         pass);
  const CaptureRequest request{.block = 1, .positions = {0, 1, 2}};
  Expect([&](const StudyModel& m) { return m.Capture(ids_, {&request, 1}, {}).status(); }, pass);
  const Matrix rows{.rows = 50, .columns = 64, .values = std::vector<float>(50 * 64, 1)};
  Expect([&](const StudyModel& m) { return m.RunMlpAlone(0, rows, {}).status(); }, pass);
}

TEST_F(StudyMemory, IsHeldForAllVariantsThatRunAtOnce) {
  const std::vector<Variant> variants(20);
  const std::vector<int64_t> lengths(20, 50);
  Expect([&](const StudyModel& m) { return m.Intervene(ids_, variants, {}, {}).status(); },
         PassBytes(lengths));
}

TEST_F(StudyMemory, IsNotTakenByAHeadThatIsTheEmbedding) {
  const auto budget = std::make_shared<MemoryBudget>(DeviceBytes{{"cpu", 1}});
  EXPECT_TRUE(LoadedStudyModel(model_, budget).LoadHead({}).ok());
}

}  // namespace
}  // namespace sinkd
