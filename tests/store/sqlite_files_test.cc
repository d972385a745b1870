// The files under a store: who may have them open, and what becomes of a server whose files others
// delete, replace, cut or lock.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "server/base/status.h"
#include "server/store/open_store.h"
#include "tests/store/backend.h"

namespace sinkd {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::LargeRecords;
using testing::MakeRecords;
using testing::ReadAll;
using testing::ReasonOf;

constexpr char kRun[] = "run";

class SqliteFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Reopen();
    ASSERT_TRUE(store_->Create({.id = kRun, .model_id = "m"}, IfExists::kFail).ok());
    ASSERT_TRUE(store_->Append(kRun, MakeRecords("a", 3)).ok());
  }

  void Reopen() {
    store_ = nullptr;
    auto store = OpenSqliteStore(folder_.path(), {});
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }

  fs::path file(const char* suffix = "") const {
    return folder_.path() / (std::string("runs.db") + suffix);
  }

  absl::Status Append() { return store_->Append(kRun, MakeRecords("more", 1)).status(); }

  void ExpectNothingIsAcknowledged(const std::string& what,
                                   const std::string& reason = "STORE_CHANGED") {
    for (const absl::Status& status :
         {Append(), store_->Create({.id = "b", .model_id = "m"}, IfExists::kFail).status(),
          store_->SetState(kRun, RunState::kComplete), store_->Delete(kRun)}) {
      EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
      EXPECT_EQ(ReasonOf(status), reason);
      EXPECT_THAT(std::string(status.message()), HasSubstr(what));
    }
  }

  void ExpectReadsAreErrors() {
    EXPECT_EQ(ReasonOf(store_->Get(kRun).status()), "STORE_CHANGED");
    EXPECT_EQ(ReasonOf(store_->ReadRecords(kRun, {}).status()), "STORE_CHANGED");
  }

  // What `backup` of a server that lost its file gives to the next one.
  std::string Copied() {
    const auto copy = store_->Copy({});
    EXPECT_TRUE(copy.ok()) << copy.status();
    std::string all;
    for (std::string next = "-"; copy.ok() && !next.empty(); all += next) {
      next = (*copy)->Next(1000).value_or("");
    }
    return all;
  }

  const testing::ScratchFolder folder_;
  std::unique_ptr<RunStore> store_;
};

TEST_F(SqliteFilesTest, ASecondServerIsRefusedAndToldOfTheFirst) {
  const absl::Status status = OpenSqliteStore(folder_.path(), {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_EQ(ReasonOf(status), "STORE_IN_USE");
  std::array<char, 256> host = {};
  gethostname(host.data(), host.size() - 1);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("process " + std::to_string(getpid()) + " on " + host.data()),
                    HasSubstr(" since 2"), HasSubstr("--state-dir")));
  EXPECT_TRUE(Append().ok());
  store_ = nullptr;
  EXPECT_TRUE(OpenSqliteStore(folder_.path(), {}).ok());
}

TEST_F(SqliteFilesTest, AServerThatWasKilledLeavesTheFolderFree) {
  store_ = nullptr;
  const pid_t child = fork();
  if (child == 0) {
    const auto store = OpenSqliteStore(folder_.path(), {});
    kill(getpid(), store.ok() ? SIGKILL : SIGTERM);
  }
  int ended = 0;
  waitpid(child, &ended, 0);
  ASSERT_EQ(WTERMSIG(ended), SIGKILL);
  Reopen();
  EXPECT_EQ(ReadAll(*store_, kRun).size(), 3u);
}

// Runs the shell of another program on the file; its exit code.
int Shell(const fs::path& file, const std::string& command) {
  const std::string line =
      "sqlite3 " + file.string() + " \"" + command + "\" > /dev/null 2> /dev/null";
  return WEXITSTATUS(std::system(line.c_str()));
}

TEST_F(SqliteFilesTest, NoOtherProgramGetsAtTheLog) {
  ASSERT_TRUE(store_->Append(kRun, LargeRecords(0)).ok());
  struct stat before = {}, after = {};
  ASSERT_EQ(stat(file("-wal").c_str(), &before), 0);
  const fs::path elsewhere = folder_.path() / "elsewhere";
  for (const std::string& command :
       {std::string("PRAGMA wal_checkpoint(TRUNCATE)"), ".backup " + elsewhere.string(),
        std::string("PRAGMA journal_mode = DELETE"), std::string("SELECT COUNT(*) FROM runs")}) {
    EXPECT_NE(Shell(file(), command), 0) << command;
  }
  ASSERT_EQ(stat(file("-wal").c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_EQ(before.st_size, after.st_size);
  // Nor is there anything shared that could be cut under the server.
  EXPECT_FALSE(fs::exists(file("-shm")));
  EXPECT_TRUE(Append().ok());
  store_ = nullptr;
  EXPECT_EQ(Shell(file(), "SELECT COUNT(*) FROM runs"), 0);
}

TEST_F(SqliteFilesTest, ADeletedFileIsAnErrorAndWhatItHeldIsSaved) {
  fs::remove(file());
  ExpectNothingIsAcknowledged("runs.db: it was deleted");
  ExpectReadsAreErrors();
  const std::string copy = Copied();
  store_ = nullptr;
  std::ofstream(file(), std::ios::binary) << copy;
  Reopen();
  EXPECT_EQ(ReadAll(*store_, kRun).size(), 3u);
}

TEST_F(SqliteFilesTest, ADeletedLogIsAnErrorAndNothingInItIsLost) {
  fs::remove(file("-wal"));
  ExpectNothingIsAcknowledged("runs.db-wal: it was deleted");
  ExpectReadsAreErrors();
  // As after a kill: nothing but what is in the folder.
  const testing::ScratchFolder after;
  fs::copy(file(), after.path() / "runs.db");
  const auto store = OpenSqliteStore(after.path(), {});
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ(ReadAll(**store, kRun).size(), 3u);
}

TEST_F(SqliteFilesTest, AReplacedFileIsAnErrorAndGoesOnWhenItIsBack) {
  fs::rename(file(), file("-aside"));
  fs::copy(file("-aside"), file());
  ExpectNothingIsAcknowledged("runs.db: another is in its place");
  ExpectReadsAreErrors();
  fs::rename(file("-aside"), file());
  EXPECT_TRUE(Append().ok());
  EXPECT_EQ(ReadAll(*store_, kRun).size(), 4u);
}

TEST_F(SqliteFilesTest, AFolderThatIsGoneIsAnError) {
  const fs::path aside = folder_.path().string() + "-aside";
  fs::rename(folder_.path(), aside);
  ExpectNothingIsAcknowledged("runs.db: it was deleted");
  fs::rename(aside, folder_.path());
  EXPECT_TRUE(Append().ok());
}

TEST_F(SqliteFilesTest, ACutFileIsAnError) {
  fs::resize_file(file(), fs::file_size(file()) - 4096);
  ExpectNothingIsAcknowledged("runs.db: another program has cut it", "STORE_DAMAGED");
}

TEST_F(SqliteFilesTest, ACutLogIsAnError) {
  ASSERT_GT(fs::file_size(file("-wal")), 0u);
  fs::resize_file(file("-wal"), 0);
  ExpectNothingIsAcknowledged("runs.db-wal: another program has cut it", "STORE_DAMAGED");
}

TEST_F(SqliteFilesTest, AFileThatMayOnlyBeReadIsReadAndNoMore) {
  fs::permissions(file(), fs::perms::owner_read);
  ExpectNothingIsAcknowledged("may not be written to");
  EXPECT_EQ(ReadAll(*store_, kRun).size(), 3u);
  fs::permissions(file(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_TRUE(Append().ok());
}

TEST_F(SqliteFilesTest, ACopyIsOfOneMomentAndGoneFromTheDisk) {
  for (int call = 0; call < 20; ++call) ASSERT_TRUE(store_->Append(kRun, LargeRecords(call)).ok());
  const auto copy = store_->Copy({});
  ASSERT_TRUE(copy.ok()) << copy.status();
  ASSERT_TRUE(Append().ok());
  ASSERT_TRUE(store_->Delete(kRun).ok());
  const testing::ScratchFolder restored;
  {
    std::ofstream out(restored.path() / "runs.db", std::ios::binary);
    int64_t bytes = 0;
    while (true) {
      const auto next = (*copy)->Next(10'000);
      ASSERT_TRUE(next.ok()) << next.status();
      if (next->empty()) break;
      bytes += static_cast<int64_t>(next->size());
      out << *next;
    }
    EXPECT_EQ(bytes, (*copy)->bytes());
  }
  const auto store = OpenSqliteStore(restored.path(), {});
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ(ReadAll(**store, kRun).size(), 3u + 20 * testing::kLargeRecordsPerCall);
  for (const auto& entry : fs::directory_iterator(folder_.path())) {
    EXPECT_FALSE(entry.path().filename().string().starts_with("runs.copy")) << entry.path();
  }
}

TEST_F(SqliteFilesTest, ACopyThatIsNotWantedLeavesNothing) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(store_->Copy(stop.get_token()).status().code(), absl::StatusCode::kCancelled);
  // Nor does one of a server that was killed at it.
  store_ = nullptr;
  std::ofstream(folder_.path() / "runs.copy-1") << "half";
  Reopen();
  EXPECT_FALSE(fs::exists(folder_.path() / "runs.copy-1"));
}

}  // namespace
}  // namespace sinkd
