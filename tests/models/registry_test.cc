#include "server/models/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "server/base/status.h"

namespace sinkd {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kLlamaConfig[] = R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"],
  "num_hidden_layers": 3, "hidden_size": 16, "intermediate_size": 32, "num_attention_heads": 4,
  "num_key_value_heads": 2, "vocab_size": 100, "max_position_embeddings": 64,
  "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "hidden_act": "silu"})";

// What a load does, when the test has no say of its own.
absl::StatusOr<LoadedModel> EmptyModel(const fs::path&, const LoadOptions&,
                                       const Registry::Progress&, std::stop_token) {
  return LoadedModel{};
}

std::vector<std::string> Ids(const std::vector<ModelEntry>& entries) {
  std::vector<std::string> ids;
  for (const ModelEntry& entry : entries) ids.push_back(entry.id);
  return ids;
}

// Blocks until `stop` is triggered.
void WaitForStop(std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  changed.wait(lock, stop, [] { return false; });
}

class RegistryTest : public testing::Test {
 protected:
  RegistryTest()
      : top_(fs::path(testing::TempDir()) /
             fmt::format("{}_{}", testing::UnitTest::GetInstance()->current_test_info()->name(),
                         getpid())) {
    fs::remove_all(top_);
    fs::create_directories(root());
    AddModel("tiny");
  }
  ~RegistryTest() override { fs::remove_all(top_); }

  fs::path root() const { return top_ / "models"; }

  fs::path AddFolder(const fs::path& folder, const std::string& config) {
    fs::create_directories(folder);
    std::ofstream(folder / "config.json") << config;
    return folder;
  }
  fs::path AddModel(const std::string& id) { return AddFolder(root() / id, kLlamaConfig); }

  Registry Make(Registry::Loader loader = EmptyModel) {
    return Registry(root(), LoadOptions{}, std::move(loader));
  }

  fs::path top_;
};

TEST_F(RegistryTest, ListsFoldersUnderTheRootById) {
  AddModel("b.model");
  AddModel("a-model");
  AddModel("Upper");
  AddModel(".hidden");
  std::ofstream(root() / "file") << "not a folder";
  const std::vector<ModelEntry> entries = Make().List();
  EXPECT_THAT(Ids(entries), ElementsAre("a-model", "b.model", "tiny"));
  ASSERT_TRUE(entries[0].spec.has_value()) << entries[0].failure;
  EXPECT_EQ(entries[0].spec->blocks, 3);
  EXPECT_EQ(entries[0].spec->architecture, "llama");
  EXPECT_EQ(entries[0].state, ModelState::kAvailable);
}

TEST_F(RegistryTest, ListsAFolderThatCannotBeReadWithItsFailure) {
  AddFolder(root() / "broken", "{ not json");
  fs::create_directories(root() / "empty");
  const std::vector<ModelEntry> entries = Make().List();
  ASSERT_THAT(Ids(entries), ElementsAre("broken", "empty", "tiny"));
  EXPECT_FALSE(entries[0].spec.has_value());
  EXPECT_THAT(entries[0].failure, HasSubstr("config.json"));
  EXPECT_FALSE(entries[1].spec.has_value());
  EXPECT_THAT(entries[1].failure, HasSubstr("config.json"));
}

TEST_F(RegistryTest, ReadsAConfigAgainOnlyWhenItsTimeOrSizeHasChanged) {
  const fs::path file = root() / "tiny" / "config.json";
  const Registry registry = Make();
  ASSERT_EQ(registry.List()[0].spec->blocks, 3);
  const fs::file_time_type time = fs::last_write_time(file);

  std::string other = kLlamaConfig;
  other.replace(other.find("layers\": 3"), 10, "layers\": 5");
  std::ofstream(file) << other;
  fs::last_write_time(file, time);
  EXPECT_EQ(registry.List()[0].spec->blocks, 3);
  fs::last_write_time(file, time + std::chrono::seconds(1));
  EXPECT_EQ(registry.List()[0].spec->blocks, 5);
}

TEST_F(RegistryTest, AMissingRootHoldsNoModels) {
  const Registry registry(top_ / "nowhere", {}, EmptyModel);
  EXPECT_TRUE(registry.List().empty());
  EXPECT_TRUE(absl::IsNotFound(registry.Get("tiny").status()));
}

TEST_F(RegistryTest, AnUnknownIdIsAnsweredWithTheNearest) {
  AddModel("qwen2.5-7b-instruct");
  AddModel("llama-3.1-8b");
  const Registry registry(root(), {}, EmptyModel);
  const auto answer = [&registry](std::string_view id) {
    return std::string(registry.Get(id).status().message());
  };
  EXPECT_THAT(answer("qwen2.5-7b-instuct"), HasSubstr("did you mean qwen2.5-7b-instruct?"));
  EXPECT_THAT(answer("llama3.1-8b"), HasSubstr("did you mean llama-3.1-8b?"));
  EXPECT_THAT(answer("mistral"), HasSubstr("use an id that ListModels returns"));
  EXPECT_THAT(std::string(registry.Plan("llama-3.1-8", {}, 1).status().message()),
              HasSubstr("did you mean llama-3.1-8b?"));
}

TEST_F(RegistryTest, FoldersThatAreCalledByNoIdAreToldOnce) {
  AddModel("fine");
  AddModel("Qwen2.5-7B");
  AddModel(".cache");
  std::ofstream(root() / "NOTES") << "a file";
  std::vector<std::string> told;
  const Registry registry(root(), {}, EmptyModel, {}, nullptr,
                          [&told](std::string_view name) { told.emplace_back(name); });
  EXPECT_THAT(told, ElementsAre("Qwen2.5-7B"));
  AddModel("a b");
  for (int time = 0; time < 2; ++time) {
    for (const ModelEntry& entry : registry.List()) EXPECT_TRUE(IsModelId(entry.id)) << entry.id;
  }
  EXPECT_THAT(told, ElementsAre("Qwen2.5-7B", "a b"));
}

TEST(ModelIdNames, AFolderOfAnotherNameIsToldWhyAndWhatItCouldBeCalled) {
  EXPECT_EQ(WhyNoModelId("Qwen2.5-7B"), "'Q' cannot be in an id");
  EXPECT_EQ(WhyNoModelId(std::string(65, 'a')), "it is longer than 64 bytes");
  EXPECT_EQ(WhyNoModelId("-a"), "it does not begin with a letter or digit");
  EXPECT_EQ(ModelIdFor("Qwen2.5-7B Instruct"), "qwen2.5-7b-instruct");
  EXPECT_EQ(ModelIdFor("__x"), "x");
  for (const std::string name : {"Qwen2.5-7B", "a b", "ÄÖ1", "--", ""}) {
    const std::string id = ModelIdFor(name);
    EXPECT_TRUE(id.empty() || IsModelId(id)) << name << " " << id;
  }
}

struct IdCase {
  const char* name;
  std::string id;
  bool valid;
};

class ModelIds : public testing::TestWithParam<IdCase> {};

TEST_P(ModelIds, AreCheckedBeforeAnyPathIsBuilt) {
  const IdCase& one = GetParam();
  EXPECT_EQ(IsModelId(one.id), one.valid);
  Registry registry(fs::path(testing::TempDir()) / "no_such_root", {}, EmptyModel);
  const absl::Status errors[] = {registry.Get(one.id).status(), registry.Acquire(one.id).status(),
                                 registry.Unload(one.id).status(),
                                 registry.Load(one.id, {}, {}, {}).status()};
  for (const absl::Status& error : errors) {
    EXPECT_EQ(error.code(),
              one.valid ? absl::StatusCode::kNotFound : absl::StatusCode::kInvalidArgument);
    ASSERT_TRUE(GetErrorDetail(error).has_value());
    EXPECT_FALSE(GetErrorDetail(error)->value.empty());
    EXPECT_FALSE(GetErrorDetail(error)->fix.empty());
    EXPECT_EQ(error.message().find("lower-case letters") != std::string::npos, !one.valid);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, ModelIds,
    testing::Values(IdCase{"Plain", "smollm2-135m_v1.0", true}, IdCase{"OneLetter", "a", true},
                    IdCase{"LongestAllowed", std::string(64, 'a'), true},
                    IdCase{"TwoDotsInside", "a..b", true}, IdCase{"Empty", "", false},
                    IdCase{"TooLong", std::string(65, 'a'), false},
                    IdCase{"UpperCase", "SmolLM2", false}, IdCase{"Parent", "..", false},
                    IdCase{"Self", ".", false}, IdCase{"Slash", "a/b", false},
                    IdCase{"Absolute", "/etc", false}, IdCase{"Climb", "a/../../etc", false},
                    IdCase{"Backslash", "a\\b", false},
                    IdCase{"Nul", std::string("a\0b", 3), false}, IdCase{"NewLine", "a\n", false},
                    IdCase{"Space", "a b", false}, IdCase{"Percent", "%2e%2e", false},
                    IdCase{"LeadingDash", "-a", false}, IdCase{"NotAscii", "mod\u00e8le", false}),
    [](const auto& one) { return std::string(one.param.name); });

TEST_F(RegistryTest, TakesALinkedFolderAndHandsItsRealPathToTheLoader) {
  const fs::path real = AddFolder(top_ / "elsewhere" / "Checkpoint", kLlamaConfig);
  fs::create_directory_symlink(real, root() / "linked");
  fs::create_symlink(real / "config.json", root() / "linked-file");
  fs::create_symlink(root() / "nothing", root() / "dangling");
  fs::path seen;
  Registry registry = Make([&](const fs::path& folder, auto&&...) {
    seen = folder;
    return LoadedModel{};
  });
  EXPECT_THAT(Ids(registry.List()), ElementsAre("linked", "tiny"));
  ASSERT_TRUE(registry.Load("linked", {}, {}, {}).ok());
  EXPECT_EQ(seen, fs::canonical(real));
  EXPECT_TRUE(absl::IsNotFound(registry.Load("linked-file", {}, {}, {}).status()));
  EXPECT_TRUE(absl::IsNotFound(registry.Load("dangling", {}, {}, {}).status()));
}

TEST_F(RegistryTest, LoadsThenHandsOut) {
  std::vector<ModelState> states;
  Registry registry(root(), {}, EmptyModel,
                    [&](std::string_view, ModelState state, int64_t) { states.push_back(state); });
  const absl::Status before = registry.Acquire("tiny").status();
  EXPECT_TRUE(absl::IsFailedPrecondition(before));
  EXPECT_THAT(std::string(before.message()), HasSubstr("LoadModel"));

  const absl::StatusOr<ModelEntry> entry = registry.Load("tiny", {}, {}, {});
  ASSERT_TRUE(entry.ok()) << entry.status();
  EXPECT_EQ(entry->state, ModelState::kReady);
  const absl::StatusOr<ModelHandle> handle = registry.Acquire("tiny");
  ASSERT_TRUE(handle.ok()) << handle.status();
  EXPECT_EQ((*handle)->id, "tiny");
  EXPECT_THAT(states, ElementsAre(ModelState::kLoading, ModelState::kReady));
}

TEST_F(RegistryTest, AReadyModelAnswersALoadAtOnceButNotInAnotherForm) {
  std::atomic<int> loads = 0;
  Registry registry = Make([&](auto&&...) {
    ++loads;
    return LoadedModel{};
  });
  ASSERT_TRUE(registry.Load("tiny", {.device = "cpu"}, {}, {}).ok());
  EXPECT_TRUE(registry.Load("tiny", {.device = "cpu"}, {}, {}).ok());
  EXPECT_TRUE(registry.Load("tiny", {.device = "auto"}, {}, {}).ok()) << "wherever it is";
  EXPECT_EQ(loads, 1);
  for (const LoadOptions& other :
       {LoadOptions{.device = "cuda:0"},
        LoadOptions{.device = "cpu", .compute_type = ComputeType::kBfloat16},
        LoadOptions{.device = "cpu", .residency = Residency::kStreamed}}) {
    const absl::Status error = registry.Load("tiny", other, {}, {}).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(error)) << error;
    EXPECT_THAT(std::string(error.message()), HasSubstr("unload it first"));
  }
  EXPECT_TRUE(registry.Acquire("tiny").ok());
}

TEST_F(RegistryTest, AFailedLoadKeepsItsMessageAndCanBeTriedAgain) {
  bool broken = true;
  Registry registry = Make([&](auto&&...) -> absl::StatusOr<LoadedModel> {
    if (broken)
      return FailedPrecondition("model.safetensors is cut short", {.reason = "TRUNCATED"});
    return LoadedModel{};
  });
  EXPECT_TRUE(absl::IsFailedPrecondition(registry.Load("tiny", {}, {}, {}).status()));
  EXPECT_EQ(registry.Get("tiny")->state, ModelState::kFailed);
  EXPECT_THAT(registry.Get("tiny")->failure, HasSubstr("cut short"));
  EXPECT_TRUE(registry.Get("tiny")->spec.has_value());
  EXPECT_THAT(std::string(registry.Acquire("tiny").status().message()), HasSubstr("cut short"));
  EXPECT_TRUE(absl::IsFailedPrecondition(registry.Unload("tiny").status()));

  broken = false;
  const absl::StatusOr<ModelEntry> entry = registry.Load("tiny", {}, {}, {});
  ASSERT_TRUE(entry.ok()) << entry.status();
  EXPECT_EQ(entry->state, ModelState::kReady);
  EXPECT_EQ(entry->failure, "");
}

TEST_F(RegistryTest, ALoaderThatThrowsIsAFailureToo) {
  Registry short_of_memory =
      Make([](auto&&...) -> absl::StatusOr<LoadedModel> { throw std::bad_alloc(); });
  const absl::Status refused = short_of_memory.Load("tiny", {}, {}, {}).status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_THAT(GetErrorDetail(refused)->fix, HasSubstr("load one in bfloat16"));
  EXPECT_EQ(short_of_memory.Get("tiny")->state, ModelState::kFailed);

  Registry broken = Make([](auto&&...) -> absl::StatusOr<LoadedModel> { throw 7; });
  EXPECT_TRUE(absl::IsInternal(broken.Load("tiny", {}, {}, {}).status()));
  EXPECT_EQ(broken.Get("tiny")->state, ModelState::kFailed);
}

TEST_F(RegistryTest, AModelInUseIsUnloadingUntilItsLastHandleGoes) {
  std::vector<ModelState> states;
  Registry registry(root(), {}, EmptyModel,
                    [&](std::string_view, ModelState state, int64_t) { states.push_back(state); });
  ASSERT_TRUE(registry.Load("tiny", {}, {}, {}).ok());
  absl::StatusOr<ModelHandle> first = registry.Acquire("tiny");
  absl::StatusOr<ModelHandle> second = registry.Acquire("tiny");

  ASSERT_EQ(registry.Unload("tiny")->state, ModelState::kUnloading);
  EXPECT_EQ(registry.Unload("tiny")->state, ModelState::kUnloading);
  for (const absl::Status& error :
       {registry.Acquire("tiny").status(), registry.Load("tiny", {}, {}, {}).status()}) {
    EXPECT_TRUE(absl::IsUnavailable(error)) << error;
    EXPECT_TRUE(GetErrorDetail(error)->retry_after.has_value());
  }
  first->reset();
  EXPECT_EQ(registry.Get("tiny")->state, ModelState::kUnloading);
  second->reset();
  EXPECT_EQ(registry.Get("tiny")->state, ModelState::kAvailable);
  EXPECT_THAT(states, ElementsAre(ModelState::kLoading, ModelState::kReady, ModelState::kUnloading,
                                  ModelState::kAvailable));
  EXPECT_TRUE(registry.Load("tiny", {}, {}, {}).ok());
}

TEST_F(RegistryTest, AnIdleModelUnloadsAtOnce) {
  Registry registry = Make();
  EXPECT_TRUE(absl::IsFailedPrecondition(registry.Unload("tiny").status()));
  ASSERT_TRUE(registry.Load("tiny", {}, {}, {}).ok());
  EXPECT_EQ(registry.Unload("tiny")->state, ModelState::kAvailable);
}

TEST_F(RegistryTest, AHandleOutlivesTheRegistry) {
  ModelHandle handle;
  {
    Registry registry = Make();
    ASSERT_TRUE(registry.Load("tiny", {}, {}, {}).ok());
    handle = *registry.Acquire("tiny");
  }
  EXPECT_EQ(handle->id, "tiny");
}

TEST_F(RegistryTest, ALoadedModelStaysListedWhenItsFolderIsGone) {
  Registry registry = Make();
  ASSERT_TRUE(registry.Load("tiny", {}, {}, {}).ok());
  fs::remove_all(root() / "tiny");
  EXPECT_THAT(Ids(registry.List()), ElementsAre("tiny"));
  EXPECT_TRUE(registry.Acquire("tiny").ok());
  ASSERT_TRUE(registry.Unload("tiny").ok());
  EXPECT_TRUE(registry.List().empty());
  EXPECT_TRUE(absl::IsNotFound(registry.Get("tiny").status()));
}

TEST_F(RegistryTest, ASecondCallerFollowsTheLoadThatRuns) {
  std::promise<void> follows;
  std::atomic<int> loads = 0;
  Registry registry = Make([&](const fs::path&, const LoadOptions&,
                               const Registry::Progress& progress, std::stop_token) {
    ++loads;
    progress({.bytes_done = 10, .bytes_total = 40});
    follows.get_future().wait();
    return LoadedModel{};
  });
  std::promise<void> begun;
  std::thread leader([&] {
    const auto tell = [&](const LoadProgress&) { begun.set_value(); };
    EXPECT_TRUE(registry.Load("tiny", {}, tell, {}).ok());
  });
  begun.get_future().wait();
  EXPECT_EQ(registry.Get("tiny")->state, ModelState::kLoading);
  EXPECT_TRUE(absl::IsUnavailable(registry.Acquire("tiny").status()));
  EXPECT_TRUE(absl::IsUnavailable(registry.Unload("tiny").status()));
  EXPECT_TRUE(
      absl::IsFailedPrecondition(registry.Load("tiny", {.device = "cuda:1"}, {}, {}).status()));

  std::vector<int64_t> seen;
  const absl::StatusOr<ModelEntry> entry = registry.Load("tiny", {},
                                                         [&](const LoadProgress& progress) {
                                                           seen.push_back(progress.bytes_done);
                                                           follows.set_value();
                                                         },
                                                         {});
  leader.join();
  ASSERT_TRUE(entry.ok()) << entry.status();
  EXPECT_EQ(entry->state, ModelState::kReady);
  EXPECT_THAT(seen, ElementsAre(10));
  EXPECT_EQ(loads, 1);
}

TEST_F(RegistryTest, AFollowerGetsTheFailureOfTheLoadItFollows) {
  std::promise<void> follows;
  Registry registry =
      Make([&](const fs::path&, const LoadOptions&, const Registry::Progress& progress,
               std::stop_token) -> absl::StatusOr<LoadedModel> {
        progress({.bytes_done = 1, .bytes_total = 2});
        follows.get_future().wait();
        return ResourceExhausted("does not fit", {.reason = "OUT_OF_MEMORY"});
      });
  std::promise<void> begun;
  std::thread leader([&] {
    const auto tell = [&](const LoadProgress&) { begun.set_value(); };
    EXPECT_TRUE(absl::IsResourceExhausted(registry.Load("tiny", {}, tell, {}).status()));
  });
  begun.get_future().wait();
  const absl::Status error =
      registry.Load("tiny", {}, [&](const LoadProgress&) { follows.set_value(); }, {}).status();
  leader.join();
  EXPECT_TRUE(absl::IsResourceExhausted(error)) << error;
}

TEST_F(RegistryTest, AFollowerThatStopsLeavesTheLoadRunning) {
  std::promise<void> gone;
  Registry registry = Make([&](const fs::path&, const LoadOptions&,
                               const Registry::Progress& progress, std::stop_token) {
    progress({.bytes_done = 1, .bytes_total = 2});
    gone.get_future().wait();
    return LoadedModel{};
  });
  std::promise<void> begun;
  std::thread leader([&] {
    const auto tell = [&](const LoadProgress&) { begun.set_value(); };
    EXPECT_TRUE(registry.Load("tiny", {}, tell, {}).ok());
  });
  begun.get_future().wait();
  std::stop_source stop;
  const absl::Status error =
      registry
          .Load(
              "tiny", {}, [&](const LoadProgress&) { stop.request_stop(); }, stop.get_token())
          .status();
  EXPECT_TRUE(absl::IsCancelled(error)) << error;
  gone.set_value();
  leader.join();
  EXPECT_EQ(registry.Get("tiny")->state, ModelState::kReady);
}

TEST_F(RegistryTest, AStoppedLoadLeavesTheModelAsItWas) {
  Registry registry =
      Make([&](auto&&, auto&&, auto&&, std::stop_token stop) -> absl::StatusOr<LoadedModel> {
        WaitForStop(stop);
        return Cancelled("stopped");
      });
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(absl::IsCancelled(registry.Load("tiny", {}, {}, stop.get_token()).status()));
  EXPECT_EQ(registry.Get("tiny")->state, ModelState::kAvailable);
  EXPECT_EQ(registry.Get("tiny")->failure, "");
}

TEST_F(RegistryTest, AFollowerTakesOverALoadWhoseLeaderStopped) {
  std::atomic<int> loads = 0;
  Registry registry =
      Make([&](const fs::path&, const LoadOptions&, const Registry::Progress& progress,
               std::stop_token stop) -> absl::StatusOr<LoadedModel> {
        if (++loads > 1) return LoadedModel{};
        progress({.bytes_done = 1, .bytes_total = 2});
        WaitForStop(stop);
        return Cancelled("stopped");
      });
  std::stop_source leader_stop;
  std::promise<void> begun;
  std::thread leader([&] {
    const auto tell = [&](const LoadProgress&) { begun.set_value(); };
    EXPECT_TRUE(
        absl::IsCancelled(registry.Load("tiny", {}, tell, leader_stop.get_token()).status()));
  });
  begun.get_future().wait();
  const absl::StatusOr<ModelEntry> entry =
      registry.Load("tiny", {}, [&](const LoadProgress&) { leader_stop.request_stop(); }, {});
  leader.join();
  ASSERT_TRUE(entry.ok()) << entry.status();
  EXPECT_EQ(entry->state, ModelState::kReady);
  EXPECT_EQ(loads, 2);
}

TEST_F(RegistryTest, ALoadThatRunsStallsNoOtherModel) {
  AddModel("other");
  std::promise<void> finish;
  std::promise<void> begun;
  Registry registry = Make([&](const fs::path& folder, auto&&...) {
    if (folder.filename() == "tiny") {
      begun.set_value();
      finish.get_future().wait();
    }
    return LoadedModel{};
  });
  std::thread leader([&] { EXPECT_TRUE(registry.Load("tiny", {}, {}, {}).ok()); });
  begun.get_future().wait();
  EXPECT_TRUE(registry.Load("other", {}, {}, {}).ok());
  EXPECT_TRUE(registry.Acquire("other").ok());
  EXPECT_EQ(registry.List().size(), 2u);
  EXPECT_EQ(registry.Unload("other")->state, ModelState::kAvailable);
  finish.set_value();
  leader.join();
}

TEST_F(RegistryTest, PlansAModelInAnyStateAndLeavesItThere) {
  std::promise<void> finish;
  std::promise<void> begun;
  std::vector<ModelState> states;
  Registry registry(
      root(), {},
      [&](auto&&...) {
        begun.set_value();
        finish.get_future().wait();
        return LoadedModel{};
      },
      [&](std::string_view, ModelState state, int64_t) { states.push_back(state); });
  const auto planned = [&] {
    const absl::StatusOr<PlannedLoad> plan = registry.Plan("tiny", {}, 16);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return plan.ok() && plan->room.refusal.ok() && plan->plan.spec.blocks == 3 &&
           !plan->plan.has_weights;
  };
  EXPECT_TRUE(planned());
  EXPECT_TRUE(states.empty());
  std::thread leader([&] { EXPECT_TRUE(registry.Load("tiny", {}, {}, {}).ok()); });
  begun.get_future().wait();
  EXPECT_TRUE(planned()) << "while it is being loaded";
  finish.set_value();
  leader.join();
  EXPECT_TRUE(planned());
  EXPECT_THAT(states, ElementsAre(ModelState::kLoading, ModelState::kReady));
}

TEST_F(RegistryTest, PlansOnlyWhatIsThere) {
  const Registry registry = Make();
  EXPECT_TRUE(absl::IsNotFound(registry.Plan("none", {}, 16).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(registry.Plan("../tiny", {}, 16).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(registry.Plan("tiny", {.device = "nonsense"}, 16).status()));
}

TEST_F(RegistryTest, ManyThreadsLoadUseAndUnloadWithoutLosingTrack) {
  std::atomic<int> alive = 0;
  Registry registry = Make();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 50; ++round) {
        if (i % 4 == 3) {
          (void)registry.Unload("tiny");
        } else if (registry.Load("tiny", {}, {}, {}).ok()) {
          const absl::StatusOr<ModelHandle> handle = registry.Acquire("tiny");
          if (handle.ok()) alive += (*handle)->id == "tiny";
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  (void)registry.Unload("tiny");
  EXPECT_EQ(registry.Get("tiny")->state, ModelState::kAvailable);
  EXPECT_GT(alive, 0);
}

}  // namespace
}  // namespace sinkd
