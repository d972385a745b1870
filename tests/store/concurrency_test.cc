#include <atomic>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "server/store/run_store.h"
#include "tests/store/backend.h"

namespace sinkd {
namespace {

using testing::MakeRecords;
using testing::ReadAll;

constexpr int kWriters = 4;
constexpr int kCalls = 25;
constexpr int kRecordsPerCall = 4;

using ConcurrencyTest = testing::StoreTest;

// Each writer's records in small calls; how many were new.
int64_t Write(RunStore& store, const std::string& run_id, const std::string& prefix) {
  int64_t added = 0;
  for (int call = 0; call < kCalls; ++call) {
    const auto kept =
        store.Append(run_id, MakeRecords(prefix, kRecordsPerCall, call * kRecordsPerCall));
    EXPECT_TRUE(kept.ok()) << kept.status();
    if (kept.ok()) added += std::count(kept->begin(), kept->end(), Kept::kAdded);
  }
  return added;
}

// A reader that follows a run sees every record once, in order, while it grows.
void Follow(RunStore& store, const std::string& run_id, int64_t records) {
  int64_t seen = 0;
  while (seen < records) {
    const auto page = store.ReadRecords(run_id, {.after = seen, .limit = 50});
    ASSERT_TRUE(page.ok()) << page.status();
    for (const Record& record : *page) ASSERT_EQ(record.sequence, ++seen);
    const auto run = store.Get(run_id);
    ASSERT_TRUE(run.ok()) << run.status();
    ASSERT_GE(run->counts.samples, seen);
  }
}

TEST_P(ConcurrencyTest, WritersOfOneRunAndReadersThatFollowIt) {
  const auto store = Open();
  ASSERT_TRUE(store->Create({.id = "shared", .model_id = "m"}, IfExists::kFail).ok());
  constexpr int64_t kRecords = kWriters * kCalls * kRecordsPerCall;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kWriters; ++i) {
      threads.emplace_back([&, i] { Write(*store, "shared", "writer" + std::to_string(i) + "-"); });
    }
    for (int i = 0; i < 2; ++i) threads.emplace_back([&] { Follow(*store, "shared", kRecords); });
  }
  EXPECT_EQ(store->Get("shared")->counts.samples, kRecords);
  std::set<std::string> keys;
  for (const Record& record : ReadAll(*store, "shared")) keys.insert(record.sample_key);
  EXPECT_EQ(keys.size(), static_cast<size_t>(kRecords));
}

TEST_P(ConcurrencyTest, TheSameKeysFromManyWritersCountOnce) {
  const std::shared_ptr<RunStore> store = Open();
  const auto other = OpenAnother(store);
  ASSERT_TRUE(store->Create({.id = "shared", .model_id = "m"}, IfExists::kFail).ok());
  std::atomic<int64_t> added = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kWriters; ++i) {
      RunStore& own = i % 2 == 0 ? *store : *other;
      threads.emplace_back([&] { added += Write(own, "shared", "key"); });
    }
  }
  EXPECT_EQ(added, kCalls * kRecordsPerCall);
  EXPECT_EQ(store->Get("shared")->counts.samples, kCalls * kRecordsPerCall);
}

TEST_P(ConcurrencyTest, OneRunsRefusalDoesNotTouchTheOthers) {
  const auto store = Open();
  ASSERT_TRUE(store->Create({.id = "good", .model_id = "m"}, IfExists::kFail).ok());
  ASSERT_TRUE(store->Create({.id = "complete", .model_id = "m"}, IfExists::kFail).ok());
  ASSERT_TRUE(store->SetState("complete", RunState::kComplete).ok());
  std::vector<std::jthread> threads;
  threads.emplace_back([&] { Write(*store, "good", "a"); });
  for (const char* id : {"complete", "absent"}) {
    threads.emplace_back([&, id] {
      for (int i = 0; i < kCalls; ++i) EXPECT_FALSE(store->Append(id, MakeRecords("a", 1)).ok());
    });
  }
  threads.clear();
  EXPECT_EQ(store->Get("good")->counts.samples, kCalls * kRecordsPerCall);
  EXPECT_EQ(store->Get("complete")->counts.samples, 0);
}

TEST_P(ConcurrencyTest, OfManyWhoCreateARunOneDoes) {
  const std::shared_ptr<RunStore> store = Open();
  const auto other = OpenAnother(store);
  std::atomic<int> created = 0, refused = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      RunStore& own = i % 2 == 0 ? *store : *other;
      threads.emplace_back([&] {
        const auto run = own.Create({.id = "wanted", .model_id = "m"}, IfExists::kFail);
        (run.ok() ? created : refused)++;
        EXPECT_EQ(testing::ReasonOf(run.status()), run.ok() ? "" : "RUN_EXISTS");
      });
    }
  }
  EXPECT_EQ(created, 1);
  EXPECT_EQ(refused, 7);
}

TEST_P(ConcurrencyTest, SeveralServersMayStartOnAnEmptyDatabaseAtOnce) {
  std::vector<absl::StatusOr<std::unique_ptr<RunStore>>> stores(4);
  std::vector<std::jthread> threads;
  for (auto& store : stores) {
    threads.emplace_back([&] { store = backend().Open({}); });
  }
  threads.clear();
  int opened = 0;
  for (const auto& store : stores) {
    opened += store.ok() ? 1 : 0;
    EXPECT_EQ(testing::ReasonOf(store.status()), store.ok() ? "" : "STORE_IN_USE");
  }
  EXPECT_EQ(opened, backend().is_shared() ? 4 : 1);
  stores.clear();
  EXPECT_TRUE(Open()->List({}).ok());
}

SINKD_OVER_BOTH_BACKENDS(ConcurrencyTest);

}  // namespace
}  // namespace sinkd
