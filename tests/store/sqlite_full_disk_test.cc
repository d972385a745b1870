// A full disk: nothing that was acknowledged is lost, what is stored can be read, and runs can be
// removed, by a server that was there before and by one that is started on it.
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include <gtest/gtest.h>

#include "server/base/status.h"
#include "server/store/open_store.h"
#include "tests/store/backend.h"

namespace sinkd {
namespace {

namespace fs = std::filesystem;
using testing::kLargeRecordsPerCall;
using testing::LargeRecords;
using testing::ReadAll;
using testing::ReasonOf;

constexpr char kRun[] = "run";

std::unique_ptr<RunStore> Open(const fs::path& folder) {
  auto store = OpenSqliteStore(folder, {});
  EXPECT_TRUE(store.ok()) << store.status();
  return store.ok() ? *std::move(store) : nullptr;
}

// Appends until there is no room; how many calls were acknowledged. `full` is what the last one
// said.
int FillUp(RunStore& store, absl::Status& full) {
  for (int call = 0; call < 1000; ++call) {
    full = store.Append(kRun, LargeRecords(call)).status();
    if (!full.ok()) return call;
  }
  return 1000;
}

// No room: a clear error, everything acknowledged can be read; room again: writes go on.
void CheckFullDisk(const fs::path& folder, const std::function<void()>& make_room) {
  auto store = Open(folder);
  ASSERT_NE(store, nullptr);
  ASSERT_TRUE(store->Create({.id = kRun, .model_id = "m"}, IfExists::kFail).ok());
  absl::Status full;
  const int calls = FillUp(*store, full);
  ASSERT_GT(calls, 0);
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted) << full;
  EXPECT_EQ(ReasonOf(full), "STORE_FULL");
  EXPECT_TRUE(GetErrorDetail(full)->retry_after.has_value());

  EXPECT_EQ(ReasonOf(store->Append(kRun, LargeRecords(calls)).status()), "STORE_FULL");
  const auto run = store->Get(kRun);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->counts.samples, calls * kLargeRecordsPerCall);
  EXPECT_EQ(ReadAll(*store, kRun).size(), static_cast<size_t>(calls) * kLargeRecordsPerCall);

  make_room();
  const auto after = store->Append(kRun, LargeRecords(calls));
  EXPECT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(store->Get(kRun)->counts.samples, (calls + 1) * kLargeRecordsPerCall);
  store = nullptr;
  EXPECT_NE(Open(folder), nullptr);  // and the file is whole
}

TEST(SqliteFullDisk, ALimitOnTheSizeOfFilesIsAFullDisk) {
  const testing::ScratchFolder folder;
  signal(SIGXFSZ, SIG_IGN);
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 1 << 20;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  CheckFullDisk(folder.path(), [&] { setrlimit(RLIMIT_FSIZE, &before); });
  setrlimit(RLIMIT_FSIZE, &before);
}

class MountedFolder {
 public:
  explicit MountedFolder(const char* options)
      : mounted_(mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, options) == 0) {}
  ~MountedFolder() {
    if (mounted_) umount2(folder_.path().c_str(), MNT_DETACH);
  }
  MountedFolder(const MountedFolder&) = delete;
  MountedFolder& operator=(const MountedFolder&) = delete;
  bool mounted() const { return mounted_; }
  const fs::path& path() const { return folder_.path(); }

 private:
  const testing::ScratchFolder folder_;
  const bool mounted_;
};

TEST(SqliteFullDisk, WritesGoOnWhenThereIsRoomAgain) {
  const MountedFolder disk("size=3m");
  if (!disk.mounted()) GTEST_SKIP() << "a small disk can be mounted by root alone";
  const fs::path ballast = disk.path() / "ballast";
  std::ofstream(ballast) << std::string(1 << 20, 'b');
  CheckFullDisk(disk.path() / "state", [&] { fs::remove(ballast); });
}

TEST(SqliteFullDisk, AFullStoreIsOpenedForReading) {
  const MountedFolder disk("size=3m");
  if (!disk.mounted()) GTEST_SKIP() << "a small disk can be mounted by root alone";
  absl::Status full;
  int calls = 0;
  {
    const auto store = Open(disk.path());
    ASSERT_TRUE(store->Create({.id = kRun, .model_id = "m"}, IfExists::kFail).ok());
    calls = FillUp(*store, full);
  }
  std::ofstream ballast(disk.path() / "ballast");
  for (int i = 0; i < (4 << 10) && ballast; ++i) ballast << std::string(1 << 10, 'b');
  ballast.flush();
  const auto store = Open(disk.path());
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(store->Get(kRun)->counts.samples, calls * kLargeRecordsPerCall);
}

// As others of the machine do: until not a byte is left.
void FillWithBallast(const fs::path& file) {
  std::ofstream out(file, std::ios::binary);
  for (const size_t piece : {size_t{64} << 10, size_t{1} << 10}) {
    while (out.write(std::string(piece, 'b').data(), static_cast<std::streamsize>(piece)).flush()) {
    }
    out.clear();
  }
}

// Three runs of some records; how many of each.
void WriteRuns(RunStore& store, int calls) {
  for (const char* run : {"first", "second", "third"}) {
    ASSERT_TRUE(store.Create({.id = run, .model_id = "m"}, IfExists::kFail).ok());
    for (int call = 0; call < calls; ++call) {
      ASSERT_TRUE(store.Append(run, LargeRecords(call)).ok()) << run << " " << call;
    }
  }
}

void CheckHolds(RunStore& store, const char* run, int calls) {
  const auto found = store.Get(run);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->counts.samples, calls * kLargeRecordsPerCall);
  EXPECT_EQ(ReadAll(store, run).size(), static_cast<size_t>(calls) * kLargeRecordsPerCall);
}

// What is left in the log's own room is used up first. Then runs go, one after the other, and what
// they held makes room for others.
void CheckRemovals(RunStore& store, const fs::path& folder, int calls) {
  absl::Status full;
  while (full.ok()) {
    full = store.Append("third", LargeRecords(calls)).status();
    calls += full.ok() ? 1 : 0;
  }
  EXPECT_EQ(ReasonOf(full), "STORE_FULL") << full;
  CheckHolds(store, "third", calls);
  for (const char* run : {"first", "second"}) {
    const auto before = fs::file_size(folder / "runs.db");
    EXPECT_TRUE(store.Delete(run).ok()) << run;
    EXPECT_EQ(ReasonOf(store.Get(run).status()), "RUN_NOT_FOUND");
    EXPECT_LT(fs::file_size(folder / "runs.db"), before) << run;
  }
  CheckHolds(store, "third", calls);
  EXPECT_TRUE(store.Create({.id = "fourth", .model_id = "m"}, IfExists::kFail).ok());
  EXPECT_TRUE(store.Append("fourth", LargeRecords(0)).ok());
  CheckHolds(store, "fourth", 1);
}

// Each number of calls ends with another part of what was written in the log.
class FullDiskTest : public ::testing::TestWithParam<int> {};

TEST_P(FullDiskTest, RunsCanBeRemoved) {
  const MountedFolder disk("size=8m");
  if (!disk.mounted()) GTEST_SKIP() << "a small disk can be mounted by root alone";
  const auto store = Open(disk.path());
  ASSERT_NO_FATAL_FAILURE(WriteRuns(*store, GetParam()));
  FillWithBallast(disk.path() / "ballast");
  CheckRemovals(*store, disk.path(), GetParam());
}

TEST_P(FullDiskTest, AServerThatWasKilledStartsAndRunsCanBeRemoved) {
  const MountedFolder disk("size=8m");
  if (!disk.mounted()) GTEST_SKIP() << "a small disk can be mounted by root alone";
  const pid_t child = fork();
  if (child == 0) {
    const auto store = Open(disk.path());
    WriteRuns(*store, GetParam());
    FillWithBallast(disk.path() / "ballast");
    kill(getpid(), SIGKILL);
  }
  int ended = 0;
  waitpid(child, &ended, 0);
  ASSERT_TRUE(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL);
  const auto store = Open(disk.path());
  ASSERT_NE(store, nullptr);
  for (const char* run : {"first", "second", "third"}) CheckHolds(*store, run, GetParam());
  CheckRemovals(*store, disk.path(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Calls, FullDiskTest, ::testing::Values(1, 2, 3, 5, 8, 11));

// The store fills its own disk, to the last record that goes in.
TEST(SqliteFullDisk, WhatFilledTheDiskCanBeRemoved) {
  const MountedFolder disk("size=4m");
  if (!disk.mounted()) GTEST_SKIP() << "a small disk can be mounted by root alone";
  auto store = Open(disk.path());
  ASSERT_TRUE(store->Create({.id = kRun, .model_id = "m"}, IfExists::kFail).ok());
  absl::Status full;
  const int calls = FillUp(*store, full);
  EXPECT_EQ(ReasonOf(full), "STORE_FULL") << full;
  store = nullptr;
  store = Open(disk.path());
  ASSERT_NE(store, nullptr);
  CheckHolds(*store, kRun, calls);
  EXPECT_TRUE(store->Delete(kRun).ok());
  EXPECT_LT(fs::file_size(disk.path() / "runs.db"), 200u << 10);
  ASSERT_TRUE(store->Create({.id = kRun, .model_id = "m"}, IfExists::kFail).ok());
  EXPECT_EQ(FillUp(*store, full), calls);
}

TEST(SqliteFullDisk, WhatReachedTheLimitOnFilesCanBeRemoved) {
  const testing::ScratchFolder folder;
  signal(SIGXFSZ, SIG_IGN);
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 2 << 20;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto store = Open(folder.path());
  ASSERT_TRUE(store->Create({.id = kRun, .model_id = "m"}, IfExists::kFail).ok());
  absl::Status full;
  const int calls = FillUp(*store, full);
  EXPECT_EQ(ReasonOf(full), "STORE_FULL") << full;
  CheckHolds(*store, kRun, calls);
  EXPECT_TRUE(store->Delete(kRun).ok());
  EXPECT_TRUE(store->Create({.id = kRun, .model_id = "m"}, IfExists::kFail).ok());
  EXPECT_TRUE(store->Append(kRun, LargeRecords(0)).ok());
  setrlimit(RLIMIT_FSIZE, &before);
}

TEST(SqliteLog, IsShortAtAnyMomentWhateverIsWritten) {
  const testing::ScratchFolder folder;
  const auto store = Open(folder.path());
  ASSERT_TRUE(store->Create({.id = kRun, .model_id = "m"}, IfExists::kFail).ok());
  for (int call = 0; call < 60; ++call) {
    ASSERT_TRUE(store->Append(kRun, LargeRecords(call)).ok());
    // A MiB, and what one call and the indexes add to it.
    ASSERT_LT(fs::file_size(folder.path() / "runs.db-wal"), 3u << 19) << call;
  }
  EXPECT_GT(fs::file_size(folder.path() / "runs.db"), 5u << 20);
}

}  // namespace
}  // namespace sinkd
