#include <sys/stat.h>

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
using testing::LargeRecords;
using testing::MakeRecords;
using testing::ReadAll;
using testing::ReasonOf;

constexpr char kRun[] = "run";

std::unique_ptr<RunStore> Open(const fs::path& folder) {
  auto store = OpenSqliteStore(folder, {});
  EXPECT_TRUE(store.ok()) << store.status();
  return store.ok() ? *std::move(store) : nullptr;
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
  EXPECT_GT(fs::file_size(folder.path() / "runs.db"), 3u << 20);
  ASSERT_TRUE(store->Delete(kRun).ok());
  EXPECT_LT(fs::file_size(folder.path() / "runs.db"), 1u << 20);
}

}  // namespace
}  // namespace sinkd
