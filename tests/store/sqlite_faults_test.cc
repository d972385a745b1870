#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <new>

#include <gtest/gtest.h>

#include "server/base/status.h"
#include "server/store/open_store.h"
#include "tests/store/backend.h"

namespace sinkd {
namespace {

namespace fs = std::filesystem;
using testing::MakeRecords;
using testing::ReadAll;
using testing::ReasonOf;

constexpr char kRun[] = "run";
constexpr int kRecordsPerCall = 50;

std::unique_ptr<RunStore> Open(const fs::path& folder) {
  auto store = OpenSqliteStore(folder, {});
  EXPECT_TRUE(store.ok()) << store.status();
  return store.ok() ? *std::move(store) : nullptr;
}

std::vector<Record> LargeRecords(int call) {
  std::vector<Record> records = MakeRecords("key", kRecordsPerCall, call * kRecordsPerCall);
  for (Record& record : records) record.payload.resize(2000, 'p');
  return records;
}

// Memory runs out in the middle of a transaction.
TEST(SqliteFaults, AnExceptionEndsItsWriteAndNoOther) {
  const testing::ScratchFolder folder;
  bool throws = false;
  const auto now = [&throws]() -> StoreTime {
    if (throws) throw std::bad_alloc();
    return StoreTime{std::chrono::seconds(1)};
  };
  auto opened = OpenSqliteStore(folder.path(), {.now = now});
  ASSERT_TRUE(opened.ok()) << opened.status();
  RunStore& store = **opened;
  ASSERT_TRUE(store.Create({.id = kRun, .model_id = "model"}, IfExists::kFail).ok());
  throws = true;
  EXPECT_EQ(ReasonOf(store.Append(kRun, MakeRecords("lost", 3)).status()), "OUT_OF_MEMORY");
  EXPECT_EQ(ReasonOf(store.Create({.id = "b", .model_id = "m"}, IfExists::kFail).status()),
            "OUT_OF_MEMORY");
  throws = false;
  const std::vector<Record> records = MakeRecords("kept", 3);
  EXPECT_TRUE(store.Append(kRun, records).ok());
  EXPECT_EQ(ReadAll(store, kRun).size(), records.size());
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
  const auto store = Open(folder);
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
  EXPECT_EQ(run->counts.samples, calls * kRecordsPerCall);
  EXPECT_EQ(ReadAll(*store, kRun).size(), static_cast<size_t>(calls) * kRecordsPerCall);

  make_room();
  const auto after = store->Append(kRun, LargeRecords(calls));
  EXPECT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(store->Get(kRun)->counts.samples, (calls + 1) * kRecordsPerCall);
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
  EXPECT_EQ(store->Get(kRun)->counts.samples, calls * kRecordsPerCall);
}

// A file with some hundred pages of records.
void WriteStore(const fs::path& folder) {
  const auto store = Open(folder);
  ASSERT_TRUE(store->Create({.id = kRun, .model_id = "m"}, IfExists::kFail).ok());
  for (int call = 0; call < 10; ++call) {
    ASSERT_TRUE(store->Append(kRun, LargeRecords(call)).ok());
  }
}

void CheckRefused(const fs::path& folder) {
  const absl::Status status = OpenSqliteStore(folder, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_EQ(ReasonOf(status), "STORE_DAMAGED");
  EXPECT_NE(std::string(status.message()).find("runs.db"), std::string::npos) << status;
  EXPECT_NE(std::string(status.message()).find(".recover"), std::string::npos) << status;
}

TEST(SqliteDamage, APageOfNonsenseIsFoundAtTheStart) {
  const testing::ScratchFolder folder;
  WriteStore(folder.path());
  std::fstream file(folder.path() / "runs.db", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(fs::file_size(folder.path() / "runs.db") / 2));
  file << std::string(64 << 10, '\x5a');
  file.close();
  CheckRefused(folder.path());
}

TEST(SqliteDamage, ACutFileIsFoundAtTheStart) {
  const testing::ScratchFolder folder;
  WriteStore(folder.path());
  fs::resize_file(folder.path() / "runs.db", fs::file_size(folder.path() / "runs.db") / 2);
  CheckRefused(folder.path());
}

TEST(SqliteDamage, AFileThatIsNoDatabaseIsRefused) {
  const testing::ScratchFolder folder;
  std::ofstream(folder.path() / "runs.db") << std::string(10'000, 'x');
  CheckRefused(folder.path());
}

TEST(SqliteFile, OthersMayNotReadIt) {
  const testing::ScratchFolder folder;
  const fs::path state = folder.path() / "deeper" / "state";
  const auto store = Open(state);
  ASSERT_TRUE(store->Create({.id = kRun, .model_id = "m"}, IfExists::kFail).ok());
  for (const char* name : {"runs.db", "runs.db-wal"}) {
    struct stat status = {};
    ASSERT_EQ(stat((state / name).c_str(), &status), 0) << name;
    EXPECT_EQ(status.st_mode & 0777, 0600u) << name;
  }
}

TEST(SqliteFile, AFolderThatCannotBeIsRefusedByName) {
  const testing::ScratchFolder folder;
  std::ofstream(folder.path() / "file") << "x";
  const absl::Status status = OpenSqliteStore(folder.path() / "file" / "state", {}).status();
  EXPECT_EQ(ReasonOf(status), "STORE_UNUSABLE") << status;
}

TEST(SqliteFile, RemovedRunsGiveTheirRoomBack) {
  const testing::ScratchFolder folder;
  const auto store = Open(folder.path());
  ASSERT_TRUE(store->Create({.id = kRun, .model_id = "m"}, IfExists::kFail).ok());
  for (int call = 0; call < 40; ++call) {
    ASSERT_TRUE(store->Append(kRun, LargeRecords(call)).ok());
  }
  ASSERT_TRUE(store->Delete(kRun).ok());
  // The log keeps its size, and is used again.
  for (int call = 0; call < 2; ++call) {
    ASSERT_TRUE(store->Create({.id = kRun, .model_id = "m"}, IfExists::kContinue).ok());
  }
  EXPECT_NE(Open(folder.path()), nullptr);
  EXPECT_LT(fs::file_size(folder.path() / "runs.db"), 1u << 20);
}

}  // namespace
}  // namespace sinkd
