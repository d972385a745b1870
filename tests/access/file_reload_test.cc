#include "server/access/file_reload.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <condition_variable>
#include <fstream>
#include <mutex>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

class FileReloadTest : public ::testing::Test {
 protected:
  FileReloadTest()
      : file_(std::filesystem::path(::testing::TempDir()) /
              StrCat("watched-", getpid(), "-",
                     ::testing::UnitTest::GetInstance()->current_test_info()->name())) {}
  ~FileReloadTest() override { std::filesystem::remove(file_); }

  void Write(const std::string& text) const { std::ofstream(file_) << text; }

  FileReload::Item Counting() {
    return {.files = {file_},
            .reload = [this]() -> absl::StatusOr<bool> {
              const std::lock_guard lock(mutex_);
              ++reads_;
              changed_.notify_all();
              return true;
            },
            .tell = [](const absl::StatusOr<bool>&) {}};
  }

  void WaitForMoreThan(int reads) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return reads_ > reads; });
  }

  int reads() {
    const std::lock_guard lock(mutex_);
    return reads_;
  }

  const std::filesystem::path file_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int reads_ = 0;
};

TEST_F(FileReloadTest, ReadsOnlyWhatChanged) {
  Write("a");
  FileReload reload({Counting()});
  reload.Look(FileReload::Which::kChanged);
  const int first = reads();
  EXPECT_EQ(first, 1);
  reload.Look(FileReload::Which::kChanged);
  EXPECT_EQ(reads(), first);
  reload.Look(FileReload::Which::kAll);
  EXPECT_EQ(reads(), first + 1);
}

TEST_F(FileReloadTest, SeesAFileThatIsReplacedByItsThread) {
  Write("a");
  FileReload reload({Counting()});
  reload.Look(FileReload::Which::kChanged);
  const int before = reads();
  const std::filesystem::path other = file_.string() + ".new";
  std::ofstream(other) << "b";
  std::filesystem::rename(other, file_);
  WaitForMoreThan(before);
}

TEST_F(FileReloadTest, SeesThatAFileIsGone) {
  Write("a");
  FileReload reload({Counting()});
  reload.Look(FileReload::Which::kChanged);
  const int before = reads();
  std::filesystem::remove(file_);
  WaitForMoreThan(before);
}

TEST_F(FileReloadTest, ReadsAllWhenTold) {
  Write("a");
  FileReload reload({Counting()});
  reload.Look(FileReload::Which::kChanged);
  const int before = reads();
  reload.LookSoon();
  WaitForMoreThan(before);
}

}  // namespace
}  // namespace sinkd
