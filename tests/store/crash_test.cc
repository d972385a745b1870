#include <atomic>
#include <random>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "server/store/run_store.h"
#include "tests/store/backend.h"
#include "tests/store/killed_writer.h"
#include "tests/store/postgres_server.h"

namespace sinkd {
namespace {

using testing::AppendUntilKilled;
using testing::kKilledRun;
using testing::PayloadOf;
using testing::ReadAll;

constexpr int kRounds = 25;

class CrashTest : public testing::StoreTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(Open()->Create({.id = kKilledRun, .model_id = "m"}, IfExists::kFail).ok());
  }

  // Opening checks SQLite's whole file. Every acknowledged record is there, once and whole; the
  // counts are those of the records, and sequences have no gap.
  void CheckStored(const std::set<std::string>& acknowledged) {
    const auto store = Open();
    ASSERT_NE(store, nullptr);
    std::set<std::string> keys;
    int64_t sequence = 0;
    for (const Record& record : ReadAll(*store, kKilledRun)) {
      ASSERT_EQ(record.sequence, ++sequence);
      ASSERT_TRUE(keys.insert(record.sample_key).second) << record.sample_key << " is there twice";
      ASSERT_EQ(record.payload, PayloadOf(record.sample_key));
    }
    for (const std::string& key : acknowledged) {
      ASSERT_TRUE(keys.contains(key)) << key << " was acknowledged and is lost";
    }
    const auto run = store->Get(kKilledRun);
    ASSERT_TRUE(run.ok()) << run.status();
    ASSERT_EQ(run->counts.samples, sequence);
    ASSERT_EQ(run->counts.tokens, sequence);
  }
};

TEST_P(CrashTest, AKilledWriterLosesNothingThatWasAcknowledged) {
  std::mt19937 random(7);
  std::set<std::string> acknowledged;
  for (int round = 0; round < kRounds; ++round) {
    const int calls = 1 + static_cast<int>(random() % 30);
    const int delay_us = static_cast<int>(random() % 4000);
    const std::set<std::string> keys = AppendUntilKilled(
        [this] { return backend().Open({}); }, "round" + std::to_string(round), calls, delay_us);
    ASSERT_FALSE(keys.empty());
    acknowledged.insert(keys.begin(), keys.end());
    ASSERT_NO_FATAL_FAILURE(CheckStored(acknowledged)) << "round " << round;
  }
  RecordProperty("acknowledged", static_cast<int>(acknowledged.size()));
}

SINKD_OVER_BOTH_BACKENDS(CrashTest);

// Appends one record a call, and again while the store cannot be reached, as a client would.
void AppendThroughCrash(RunStore& store, const std::string& prefix, std::atomic<int>& acknowledged,
                        const std::atomic<bool>& stop, std::set<std::string>& keys) {
  for (int i = 0; !stop; ++i) {
    const std::string key = prefix + std::to_string(i);
    const std::vector<Record> records = {
        {.sample_key = key, .tokens = 1, .payload = PayloadOf(key)}};
    absl::Status status = absl::UnavailableError("not tried yet");
    while (absl::IsUnavailable(status)) status = store.Append(kKilledRun, records).status();
    ASSERT_TRUE(status.ok()) << status;
    keys.insert(key);
    ++acknowledged;
  }
}

class ServerCrashTest : public CrashTest {};

TEST_P(ServerCrashTest, AServerThatDiesAtOnceLosesNothingAndIsFoundAgain) {
  auto& server = testing::PostgresServer::Shared();
  const auto store = Open();
  std::vector<std::set<std::string>> keys(testing::kWriterThreads);
  std::atomic<int> acknowledged = 0;
  std::atomic<bool> stop = false;
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < keys.size(); ++i) {
      threads.emplace_back([&, i] {
        AppendThroughCrash(*store, "thread" + std::to_string(i) + "-", acknowledged, stop, keys[i]);
      });
    }
    for (int crash = 0; crash < 3; ++crash) {
      const int before = acknowledged;
      while (acknowledged < before + 50) std::this_thread::yield();
      server.StopAtOnce();
      server.Start();
    }
    const int before = acknowledged;
    while (acknowledged < before + 50) std::this_thread::yield();
    stop = true;
  }
  std::set<std::string> all;
  for (const auto& own : keys) all.insert(own.begin(), own.end());
  CheckStored(all);
}

INSTANTIATE_TEST_SUITE_P(Over, ServerCrashTest, ::testing::Values("Postgres"),
                         [](const auto& which) { return std::string(which.param); });

}  // namespace
}  // namespace sinkd
