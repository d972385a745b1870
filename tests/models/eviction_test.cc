// Loads under a memory budget, with loaders that read nothing: sizes are those of the plans.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <string>

#include <fmt/format.h>

#include "server/base/status.h"
#include "server/models/registry.h"

namespace sinkd {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr char kConfig[] = R"({"model_type": "llama", "num_hidden_layers": 3, "hidden_size": 16,
  "intermediate_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100,
  "max_position_embeddings": 64, "tie_word_embeddings": true})";

class Eviction : public ::testing::Test {
 protected:
  Eviction()
      : root_(fs::path(::testing::TempDir()) /
              fmt::format("eviction_{}_{}",
                          ::testing::UnitTest::GetInstance()->current_test_info()->name(),
                          getpid())) {
    for (const char* id : {"a", "b", "c", "d"}) {
      fs::create_directories(root_ / id);
      std::ofstream(root_ / id / "config.json") << kConfig;
    }
  }
  ~Eviction() override { fs::remove_all(root_); }

  // Room for `models` of the four, and a little more.
  std::unique_ptr<Registry> WithRoomFor(int64_t models, Registry::Loader loader = {}) {
    const int64_t each = PlanModel(root_ / "a", {}, 1)->weight_bytes;
    if (!loader) loader = [](auto&&...) -> absl::StatusOr<LoadedModel> { return LoadedModel{}; };
    return std::make_unique<Registry>(
        root_, LoadOptions{}, std::move(loader), Registry::Observer{},
        std::make_shared<MemoryBudget>(DeviceBytes{{"cpu", models * each + each / 2}}));
  }
  static absl::Status Load(Registry& registry, const std::string& id,
                           std::optional<bool> pinned = std::nullopt) {
    return registry.Load(id, {}, {}, {}, pinned).status();
  }
  static bool IsReady(const Registry& registry, const std::string& id) {
    return registry.Get(id)->state == ModelState::kReady;
  }

  const fs::path root_;
};

TEST_F(Eviction, TheLeastRecentlyUsedModelMakesRoom) {
  const auto registry = WithRoomFor(2);
  ASSERT_TRUE(Load(*registry, "a").ok());
  ASSERT_TRUE(Load(*registry, "b").ok());
  EXPECT_TRUE(registry->Acquire("a").ok());  // b is now the one not used for longer
  ASSERT_TRUE(Load(*registry, "c").ok());
  EXPECT_TRUE(IsReady(*registry, "a"));
  EXPECT_FALSE(IsReady(*registry, "b"));
  EXPECT_EQ(registry->evictions(), 1);
}

TEST_F(Eviction, PinnedModelsAndThoseInUseStay) {
  const auto registry = WithRoomFor(2);
  ASSERT_TRUE(Load(*registry, "a", true).ok());
  ASSERT_TRUE(Load(*registry, "b").ok());
  std::optional<ModelHandle> in_use = *registry->Acquire("b");
  EXPECT_EQ(registry->Get("b")->users, 1);

  const absl::Status full = Load(*registry, "c");
  EXPECT_TRUE(absl::IsResourceExhausted(full));
  EXPECT_THAT(full.message(), HasSubstr("models/a"));
  EXPECT_THAT(full.message(), HasSubstr("pinned"));
  EXPECT_THAT(full.message(), HasSubstr("in use by 1"));
  EXPECT_THAT(full.message(), HasSubstr("--memory-budget"));
  EXPECT_TRUE(GetErrorDetail(full)->retry_after.has_value()) << "b may be let go of";
  EXPECT_TRUE(IsReady(*registry, "a") && IsReady(*registry, "b"));

  in_use.reset();
  EXPECT_EQ(registry->Get("b")->users, 0);
  EXPECT_TRUE(Load(*registry, "c").ok());
  EXPECT_TRUE(IsReady(*registry, "a"));
}

TEST_F(Eviction, APinIsChangedByAskingAgain) {
  const auto registry = WithRoomFor(1);
  ASSERT_TRUE(Load(*registry, "a", true).ok());
  ASSERT_TRUE(Load(*registry, "a").ok());
  EXPECT_TRUE(registry->Get("a")->pinned) << "silence changes nothing";
  EXPECT_TRUE(absl::IsResourceExhausted(Load(*registry, "b")));
  ASSERT_TRUE(Load(*registry, "a", false).ok());
  EXPECT_TRUE(Load(*registry, "b").ok());
  EXPECT_FALSE(registry->Get("b")->pinned);
}

TEST_F(Eviction, NothingIsEvictedForWhatWouldNotFitAnyway) {
  const auto registry = WithRoomFor(1);
  ASSERT_TRUE(Load(*registry, "a").ok());
  std::ofstream(root_ / "b" / "config.json")
      << std::string(kConfig).replace(std::string(kConfig).find(": 100"), 5, ": 900000");
  const absl::Status full = Load(*registry, "b");
  EXPECT_TRUE(absl::IsResourceExhausted(full)) << full;
  EXPECT_TRUE(IsReady(*registry, "a"));
  EXPECT_EQ(registry->evictions(), 0);
}

TEST_F(Eviction, TwoLoadsAtOnceDoNotCountOnTheSameRoom) {
  std::promise<void> begun;
  std::promise<void> go_on;
  std::shared_future<void> may_go_on = go_on.get_future().share();
  const auto registry =
      WithRoomFor(1, [&](const fs::path& folder, auto&&...) -> absl::StatusOr<LoadedModel> {
        if (folder.filename() == "a") {
          begun.set_value();
          may_go_on.wait();
        }
        return LoadedModel{};
      });
  std::future<absl::Status> first =
      std::async(std::launch::async, [&] { return Load(*registry, "a"); });
  begun.get_future().wait();
  const absl::Status second = Load(*registry, "b");
  EXPECT_TRUE(absl::IsResourceExhausted(second));
  EXPECT_THAT(second.message(), HasSubstr("being loaded"));
  EXPECT_GT(registry->budget()->Snapshot()[0].loading_bytes, 0);
  go_on.set_value();
  EXPECT_TRUE(first.get().ok());
  EXPECT_EQ(registry->budget()->Snapshot()[0].loading_bytes, 0);
  EXPECT_GT(registry->budget()->Snapshot()[0].weight_bytes, 0);
}

TEST_F(Eviction, ALoadStallsNoOtherModel) {
  std::promise<void> begun;
  std::promise<void> go_on;
  const auto registry =
      WithRoomFor(4, [&](const fs::path& folder, auto&&...) -> absl::StatusOr<LoadedModel> {
        if (folder.filename() == "a") {
          begun.set_value();
          go_on.get_future().wait();
        }
        return LoadedModel{};
      });
  ASSERT_TRUE(Load(*registry, "b").ok());
  std::future<absl::Status> slow =
      std::async(std::launch::async, [&] { return Load(*registry, "a"); });
  begun.get_future().wait();
  EXPECT_TRUE(registry->Acquire("b").ok());
  EXPECT_TRUE(Load(*registry, "c").ok());
  EXPECT_EQ(registry->Get("a")->state, ModelState::kLoading);
  EXPECT_TRUE(registry->Unload("c").ok());
  go_on.set_value();
  EXPECT_TRUE(slow.get().ok());
}

TEST_F(Eviction, FailedAndUnloadedModelsGiveBackTheirRoom) {
  bool fail = true;
  const auto registry = WithRoomFor(1, [&](auto&&...) -> absl::StatusOr<LoadedModel> {
    if (fail) return Internal("the loader failed");
    return LoadedModel{};
  });
  EXPECT_FALSE(Load(*registry, "a", true).ok());
  EXPECT_EQ(registry->budget()->Snapshot()[0].loading_bytes, 0);
  EXPECT_FALSE(registry->Get("a")->pinned);
  fail = false;
  ASSERT_TRUE(Load(*registry, "a").ok());
  ASSERT_TRUE(registry->Unload("a").ok());
  EXPECT_EQ(registry->budget()->Snapshot()[0].weight_bytes, 0);
  EXPECT_TRUE(Load(*registry, "b").ok());
}

TEST_F(Eviction, AutoCountsOnWhatModelsThatStayLeaveOfTheBudgetAndLoadsAsItWasPlanned) {
  std::vector<LoadOptions> loads;
  const auto registry = WithRoomFor(3, [&](const fs::path&, const LoadOptions& options, auto&&...) {
    loads.push_back(options);
    return absl::StatusOr<LoadedModel>(LoadedModel{});
  });
  const int64_t budget = registry->budget()->Snapshot()[0].budget_bytes;
  const int64_t each = PlanModel(root_ / "a", {}, 1)->weight_bytes;
  ASSERT_TRUE(Load(*registry, "a", true).ok());
  ASSERT_TRUE(Load(*registry, "b").ok());  // can go, and so does not count
  ASSERT_TRUE(registry->Load("c", {.device = "auto"}, {}, {}).ok());
  ASSERT_EQ(loads.size(), 3);
  EXPECT_EQ(loads[0].device, "cpu");
  EXPECT_TRUE(loads[0].room.empty());
  EXPECT_NE(loads[2].device, kAutoDevice) << "the loader must not choose again";
  EXPECT_EQ(loads[2].room.at("cpu"), budget - each);
  EXPECT_TRUE(registry->Load("c", {.device = "auto"}, {}, {}).ok()) << "it is as asked";
}

TEST(MemoryBudget, APassTakesWhatModelsLeave) {
  MemoryBudget budget({{"cpu", 1000}});
  const std::string cpu = "cpu";
  const std::span<const std::string> devices(&cpu, 1);
  auto load = budget.TryHold({{"cpu", 600}});
  ASSERT_TRUE(load.has_value());
  EXPECT_TRUE(budget.HoldRun(devices, 400).ok());
  const absl::Status refused = budget.HoldRun(devices, 401).status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_THAT(refused.message(), HasSubstr("401 bytes"));
  EXPECT_THAT(refused.message(), HasSubstr("400 bytes of the 1000 bytes"));
  EXPECT_THAT(refused.message(), HasSubstr("shorter sample"));
  auto running = budget.HoldRun(devices, 300);
  ASSERT_TRUE(running.ok());
  EXPECT_FALSE(budget.HoldRun(devices, 200).ok()) << "beside the pass that runs";
  *running = {};
  EXPECT_TRUE(budget.HoldRun(devices, 400).ok());
}

TEST(MemoryBudget, ALoadWaitsForAPassThatRuns) {
  MemoryBudget budget({{"cpu", 1000}});
  const std::string cpu = "cpu";
  auto running = budget.HoldRun({&cpu, 1}, 500);
  ASSERT_TRUE(running.ok());
  const auto load = budget.TryHold({{"cpu", 800}});
  ASSERT_TRUE(load.has_value());
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_FALSE(budget.WaitForRuns(*load, stopped.get_token()));
  std::future<bool> waited =
      std::async(std::launch::async, [&] { return budget.WaitForRuns(*load, {}); });
  *running = {};
  EXPECT_TRUE(waited.get());
}

TEST(MemoryBudget, IsNineTenthsOfWhatTheDeviceHasUnlessToldOtherwise) {
  MemoryBudget budget({{"cuda:0", 50}}, [](const std::string&) { return 1000; });
  EXPECT_TRUE(budget.Missing({{"cpu", 900}, {"cuda:0", 50}}).empty());
  EXPECT_EQ(budget.Missing({{"cpu", 901}, {"cuda:0", 60}}),
            (DeviceBytes{{"cpu", 1}, {"cuda:0", 10}}));
  MemoryBudget silent({}, [](const std::string&) { return 0; });
  EXPECT_TRUE(silent.Missing({{"cpu", int64_t{1} << 60}}).empty()) << "nothing is known";
}

}  // namespace
}  // namespace sinkd
