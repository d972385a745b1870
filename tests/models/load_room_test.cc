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
#include "server/telemetry/log.h"

namespace sinkd {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kConfig[] = R"({"model_type": "llama", "num_hidden_layers": 3, "hidden_size": 16,
  "intermediate_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100,
  "max_position_embeddings": 64, "tie_word_embeddings": true})";

class LoadRoomTest : public ::testing::Test {
 protected:
  LoadRoomTest()
      : root_(fs::path(::testing::TempDir()) /
              fmt::format("load_room_{}_{}",
                          ::testing::UnitTest::GetInstance()->current_test_info()->name(),
                          getpid())) {
    for (const char* id : {"a", "b", "c", "d"}) {
      fs::create_directories(root_ / id);
      std::ofstream(root_ / id / "config.json") << kConfig;
    }
  }
  ~LoadRoomTest() override { fs::remove_all(root_); }

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

TEST_F(LoadRoomTest, TheLeastRecentlyUsedModelMakesRoom) {
  const auto registry = WithRoomFor(2);
  ASSERT_TRUE(Load(*registry, "a").ok());
  ASSERT_TRUE(Load(*registry, "b").ok());
  EXPECT_TRUE(registry->Acquire("a").ok());  // b is now the one not used for longer
  ASSERT_TRUE(Load(*registry, "c").ok());
  EXPECT_TRUE(IsReady(*registry, "a"));
  EXPECT_FALSE(IsReady(*registry, "b"));
  EXPECT_EQ(registry->evictions(), 1);
}

TEST_F(LoadRoomTest, PinnedModelsAndThoseInUseStay) {
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

TEST_F(LoadRoomTest, APinIsChangedByAskingAgain) {
  const auto registry = WithRoomFor(1);
  ASSERT_TRUE(Load(*registry, "a", true).ok());
  ASSERT_TRUE(Load(*registry, "a").ok());
  EXPECT_TRUE(registry->Get("a")->pinned) << "silence changes nothing";
  EXPECT_TRUE(absl::IsResourceExhausted(Load(*registry, "b")));
  ASSERT_TRUE(Load(*registry, "a", false).ok());
  EXPECT_TRUE(Load(*registry, "b").ok());
  EXPECT_FALSE(registry->Get("b")->pinned);
}

TEST_F(LoadRoomTest, NothingIsEvictedForWhatWouldNotFitAnyway) {
  const auto registry = WithRoomFor(1);
  ASSERT_TRUE(Load(*registry, "a").ok());
  std::ofstream(root_ / "b" / "config.json")
      << std::string(kConfig).replace(std::string(kConfig).find(": 100"), 5, ": 900000");
  const absl::Status full = Load(*registry, "b");
  EXPECT_TRUE(absl::IsResourceExhausted(full)) << full;
  EXPECT_TRUE(IsReady(*registry, "a"));
  EXPECT_EQ(registry->evictions(), 0);
}

TEST_F(LoadRoomTest, TwoLoadsAtOnceDoNotCountOnTheSameRoom) {
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

TEST_F(LoadRoomTest, ALoadStallsNoOtherModel) {
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

TEST_F(LoadRoomTest, FailedAndUnloadedModelsGiveBackTheirRoom) {
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

TEST_F(LoadRoomTest, AutoCountsOnWhatModelsThatStayLeaveOfTheBudgetAndLoadsAsItWasPlanned) {
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

TEST(MemoryBudget, ALoadWaitsForAPassWhoseMemoryItNeeds) {
  int64_t free = 500;  // beside the pass
  MemoryBudget budget({{"cpu", 5000}}, [&free](const std::string&) { return free; });
  const std::string cpu = "cpu";
  auto running = budget.HoldRun({&cpu, 1}, 300);
  ASSERT_TRUE(running.ok());
  EXPECT_FALSE(budget.TryHold({{"cpu", 801}}).has_value());
  const auto load = budget.TryHold({{"cpu", 800}});
  ASSERT_TRUE(load.has_value());
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_FALSE(budget.WaitForRuns(*load, stopped.get_token()));
  free = 800;
  *running = {};
  EXPECT_TRUE(budget.WaitForRuns(*load, {}));
}

TEST(MemoryBudget, IsNineTenthsOfWhatTheDeviceHasUnlessToldOtherwise) {
  MemoryBudget budget({{"cuda:0", 50}}, [](const std::string&) { return 1000; });
  const std::map<std::string, MemorySnapshot> now = budget.Look({{"cpu", 0}, {"cuda:0", 0}});
  EXPECT_EQ(MissingBytes(now.at("cpu"), 900), 0);
  EXPECT_EQ(MissingBytes(now.at("cpu"), 901), 1);
  EXPECT_EQ(MissingBytes(now.at("cuda:0"), 60), 10);
  EXPECT_TRUE(budget.TryHold({{"cpu", 900}, {"cuda:0", 50}}).has_value());
  EXPECT_FALSE(budget.TryHold({{"cpu", 901}, {"cuda:0", 50}}).has_value());
  MemoryBudget silent({}, [](const std::string&) { return 0; });
  EXPECT_TRUE(silent.TryHold({{"cpu", int64_t{1} << 60}}).has_value()) << "nothing is known";
}

TEST(LoadRoom, NamesTheDeviceThatEvictionDoesNotHelp) {
  const std::map<std::string, MemorySnapshot> now = {
      {"cuda:0", {.device = "cuda:0", .budget_bytes = 100, .weight_bytes = 80, .free_bytes = 900}},
      {"cuda:1", {.device = "cuda:1", .budget_bytes = 100, .weight_bytes = 90, .free_bytes = 900}}};
  const std::vector<Resident> residents = {
      {.id = "idle", .last_use = 1, .bytes = {{"cuda:0", 70}}},
      {.id = "kept", .pinned = true, .last_use = 2, .bytes = {{"cuda:0", 10}, {"cuda:1", 90}}}};
  const LoadRoom refused = FindRoom("new", {{"cuda:0", 50}, {"cuda:1", 11}}, now, residents);
  EXPECT_EQ(GetErrorDetail(refused.refusal)->subject, "cuda:1");
  EXPECT_THAT(refused.refusal.message(),
              AllOf(HasSubstr("1 bytes more"), HasSubstr("models/kept (90 bytes, pinned)")));
  EXPECT_TRUE(refused.devices.at("cuda:0").fits);
  EXPECT_FALSE(refused.devices.at("cuda:1").fits);
  EXPECT_TRUE(refused.victims.empty());
  EXPECT_EQ(refused.devices.at("cuda:0").evicted_bytes, 0);

  const LoadRoom room = FindRoom("new", {{"cuda:0", 50}, {"cuda:1", 10}}, now, residents);
  EXPECT_TRUE(room.refusal.ok());
  EXPECT_THAT(room.victims, ElementsAre("idle"));
  EXPECT_EQ(room.devices.at("cuda:0").evicted_bytes, 70);
  EXPECT_EQ(room.devices.at("cuda:0").pinned_bytes, 10);
  EXPECT_TRUE(room.devices.at("cuda:0").HasRoomToRun(40));
  EXPECT_FALSE(room.devices.at("cuda:0").HasRoomToRun(41));
}

TEST(LoadRoom, SaysWhenTheDeviceItselfIsShortOfMemory) {
  const LoadRoom room =
      FindRoom("new", {{"cpu", 50}},
               {{"cpu", {.device = "cpu", .budget_bytes = 100, .free_bytes = 49}}}, {});
  EXPECT_EQ(GetErrorDetail(room.refusal)->reason, "MODEL_TOO_LARGE");
  EXPECT_THAT(room.refusal.message(), HasSubstr("takes 50 bytes of cpu, which has 49 bytes free"));
}

TEST_F(LoadRoomTest, LogsLoadsAndWhatIsUnloadedForThem) {
  std::vector<std::string> lines;
  SetLogWriter([&lines](std::string_view line) { lines.emplace_back(line); });
  {
    const auto registry = WithRoomFor(1);
    ASSERT_TRUE(registry->Load("a", {}, {}, {}, {}, "ann").ok());
    ASSERT_TRUE(registry->Load("b", {}, {}, {}, true, "bob").ok());
    EXPECT_FALSE(registry->Load("c", {}, {}, {}, {}, "cleo").ok());
    ASSERT_TRUE(registry->Unload("b").ok());
    ASSERT_TRUE(registry->Load("d", {}, {}, {}).ok());
  }
  SetLogWriter({});
  const std::string bytes = fmt::format(" bytes={}", PlanModel(root_ / "a", {}, 1)->weight_bytes);
  ASSERT_EQ(lines.size(), 6);
  EXPECT_THAT(lines[0], AllOf(HasSubstr("info model loaded model=a device=cpu residency=resident" +
                                        bytes + " seconds="),
                              HasSubstr(" caller=ann")));
  EXPECT_THAT(lines[1], AllOf(HasSubstr("info model unloaded model=a why=\"room for models/b\"" +
                                        bytes + " seconds="),
                              HasSubstr(" caller=bob")));
  EXPECT_THAT(lines[2], HasSubstr("model loaded model=b"));
  EXPECT_THAT(lines[3], AllOf(HasSubstr("warning model not loaded model=c"),
                              HasSubstr("caller=cleo"), HasSubstr("memory budget")));
  EXPECT_THAT(lines[4], HasSubstr("model unloaded model=b why=\"asked for\""));
  EXPECT_THAT(lines[5], HasSubstr("model loaded model=d"));
}

}  // namespace
}  // namespace sinkd
