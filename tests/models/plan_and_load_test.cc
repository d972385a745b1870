// A plan fits exactly when Load finds room: over budgets, free memory, pins, users, residencies,
// placements and sizes, with loaders that read nothing.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "server/models/registry.h"

namespace sinkd {
namespace {

namespace fs = std::filesystem;

constexpr char kConfig[] = R"({{"model_type": "llama", "num_hidden_layers": 4, "hidden_size": 16,
  "intermediate_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": {},
  "max_position_embeddings": 64, "tie_word_embeddings": true}})";

struct Case {
  std::string asked;         // "small", "large", or "a", which is in memory
  double budget = 0;         // in sizes of "a"; 0: none is set
  double memory = 0;         // of the device, in the same
  std::vector<bool> pinned;  // "a", "b"
  bool b_is_used = false;
  LoadOptions options;

  std::string Text() const {
    return fmt::format("{} budget {} memory {} pins {}{} {} {} {}", asked, budget, memory,
                       static_cast<int>(pinned[0]), static_cast<int>(pinned[1]),
                       b_is_used ? " b in use" : "", options.device,
                       options.residency == Residency::kStreamed ? "streamed" : "resident");
  }
};

class PlanAndLoad : public ::testing::Test {
 protected:
  PlanAndLoad()
      : root_(fs::path(::testing::TempDir()) / fmt::format("plan_and_load_{}", getpid())) {
    for (const auto& [id, vocabulary] :
         std::map<std::string, int>{{"a", 1000}, {"b", 1000}, {"small", 10}, {"large", 3000}}) {
      fs::create_directories(root_ / id);
      std::ofstream(root_ / id / "config.json") << fmt::format(kConfig, vocabulary);
    }
    size_ = Weight("a", {});
  }
  ~PlanAndLoad() override { fs::remove_all(root_); }

  int64_t Weight(const std::string& id, const LoadOptions& options) const {
    int64_t bytes = 0;
    const auto plan = PlanModel(root_ / id, options, 1);
    for (const DeviceShare& share : plan->devices) bytes += share.weight_bytes;
    return bytes;
  }

  // Plans and loads; what was said of each, and counts both outcomes.
  void Try(const Case& one) {
    SCOPED_TRACE(one.Text());
    const int64_t memory = Bytes(one.memory);
    std::atomic<int64_t> taken = 0;  // as real weights would
    std::map<std::string, int64_t> sizes = {{"a", size_}, {"b", size_}, {"small", 0}, {"large", 0}};
    const DeviceBytes limits =
        one.budget == 0 ? DeviceBytes{} : DeviceBytes{{"cpu", Bytes(one.budget)}};
    const auto budget = std::make_shared<MemoryBudget>(
        limits, [&](const std::string&) { return std::max<int64_t>(1, memory - taken); });
    Registry registry(
        root_, {}, [](auto&&...) { return LoadedModel{}; },
        [&](std::string_view id, ModelState state, int64_t) {
          if (state == ModelState::kReady) taken += sizes.at(std::string(id));
          if (state == ModelState::kAvailable) taken -= sizes.at(std::string(id));
        },
        budget);
    for (const std::string id : {"a", "b"}) {
      registry.Load(id, {}, {}, {}, one.pinned[id == "b"]).status().IgnoreError();
    }
    std::optional<ModelHandle> user;
    if (one.b_is_used && registry.Acquire("b").ok()) user = *registry.Acquire("b");
    int64_t kept = 0;
    std::vector<std::string> others;
    for (const std::string id : {"a", "b"}) {
      if (id == one.asked || registry.Get(id)->state != ModelState::kReady) continue;
      others.push_back(id);
      if (one.pinned[id == "b"] || registry.Get(id)->users > 0) kept += size_;
    }

    const auto planned = registry.Plan(one.asked, one.options, 16);
    ASSERT_TRUE(planned.ok()) << planned.status();
    const bool was_loaded = registry.Get(one.asked)->state == ModelState::kReady;
    if (was_loaded) {
      ASSERT_TRUE(registry.Unload(one.asked).ok());
    }
    const absl::Status done = registry.Load(one.asked, one.options, {}, {}).status();
    EXPECT_EQ(planned->room.refusal, done);

    const int64_t wanted = Weight(one.asked, one.options);
    const int64_t limit = one.budget == 0 ? memory / 10 * 9 : Bytes(one.budget);
    EXPECT_EQ(done.ok(), kept + wanted <= std::min(limit, memory)) << done;
    std::vector<std::string> gone;
    for (const std::string& id : others) {
      if (registry.Get(id)->state != ModelState::kReady) gone.push_back(id);
    }
    std::vector<std::string> victims = planned->room.victims;
    std::sort(victims.begin(), victims.end());
    EXPECT_EQ(victims, gone);
    ++(done.ok() ? fit_ : refused_);
    evicted_ += static_cast<int>(gone.size());
  }

  int64_t Bytes(double sizes) const {
    return static_cast<int64_t>(sizes * static_cast<double>(size_));
  }

  const fs::path root_;
  int64_t size_ = 0;
  int fit_ = 0;
  int refused_ = 0;
  int evicted_ = 0;
};

TEST_F(PlanAndLoad, Agree) {
  for (const char* asked : {"small", "large", "a"}) {
    for (const double budget : {0.0, 0.5, 1.1, 2.2, 3.5, 9.0}) {
      for (const double memory : {2.5, 4.0, 20.0}) {
        for (const int pins : {0, 1, 2, 3}) {
          for (const bool b_is_used : {false, true}) {
            for (const char* device : {"cpu", "auto", "cpu=0-0,cpu=1-3"}) {
              for (const Residency residency : {Residency::kResident, Residency::kStreamed}) {
                Try({asked,
                     budget,
                     memory,
                     {(pins & 1) != 0, (pins & 2) != 0},
                     b_is_used,
                     {.device = device, .residency = residency}});
                if (HasFatalFailure()) return;
              }
            }
          }
        }
      }
    }
  }
  EXPECT_GT(fit_, 500);
  EXPECT_GT(refused_, 500);
  EXPECT_GT(evicted_, 200);
  RecordProperty("fit", fit_);
  RecordProperty("refused", refused_);
  RecordProperty("evicted", evicted_);
}

}  // namespace
}  // namespace sinkd
