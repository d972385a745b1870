// How many cores a process may keep busy, in trees of /proc and /sys made up for the test.
#include "server/base/control_group.h"

#include <sched.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "server/base/str_cat.h"

namespace sinkd {
namespace {

namespace fs = std::filesystem;

class UsableCoresOf : public ::testing::Test {
 protected:
  ~UsableCoresOf() override { fs::remove_all(root_); }

  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  void Quota2(const std::string& group, const std::string& text) const {
    Write("sys/fs/cgroup" + group + "/cpu.max", text + "\n");
  }
  void Quota1(const std::string& group, const std::string& quota) const {
    Write("sys/fs/cgroup/cpu" + group + "/cpu.cfs_quota_us", quota + "\n");
    Write("sys/fs/cgroup/cpu" + group + "/cpu.cfs_period_us", "100000\n");
  }
  int Cores(int allowed) const { return UsableCores(allowed, root_); }

  const fs::path root_ = fs::path(::testing::TempDir()) / StrCat("usable_cores_", getpid());
};

TEST_F(UsableCoresOf, AProcessWithoutLimitsAreThoseItMayRunOn) {
  EXPECT_EQ(Cores(16), 16) << "no files at all";
  Write("proc/self/cgroup", "0::/user/one\n");
  EXPECT_EQ(Cores(16), 16) << "no files of the group";
  Quota2("/user/one", "max 100000");
  EXPECT_EQ(Cores(16), 16);
  Quota2("/user/one", "6400000 100000");
  EXPECT_EQ(Cores(16), 16) << "a quota of more cores than there are";
}

TEST_F(UsableCoresOf, AGroupOfVersion2AreItsQuotaRoundedUp) {
  Write("proc/self/cgroup", "0::/user/one\n");
  Quota2("/user/one", "400000 100000");
  EXPECT_EQ(Cores(16), 4);
  EXPECT_EQ(Cores(2), 2);
  Quota2("/user/one", "150000 100000");
  EXPECT_EQ(Cores(16), 2);
  Quota2("/user/one", "10000 100000");
  EXPECT_EQ(Cores(16), 1);
  Quota2("/user/one", "75000 50000");
  EXPECT_EQ(Cores(16), 2) << "of another period";
}

TEST_F(UsableCoresOf, AGroupAreAtMostThoseOfTheGroupAbove) {
  Write("proc/self/cgroup", "0::/user/one\n");
  Quota2("/user/one", "400000 100000");
  Quota2("/user", "300000 100000");
  EXPECT_EQ(Cores(16), 3);
  Quota2("", "200000 100000");
  EXPECT_EQ(Cores(16), 2);
}

TEST_F(UsableCoresOf, AContainerAreThoseOfItsMount) {
  Write("proc/self/cgroup", "0::/\n");
  Quota2("", "200000 100000");
  EXPECT_EQ(Cores(16), 2);
}

TEST_F(UsableCoresOf, AGroupOfVersion1AreItsQuotaRoundedUp) {
  Write("proc/self/cgroup", "7:memory:/elsewhere\n5:cpu,cpuacct:/docker/abc\n0::/docker/abc\n");
  Quota1("/docker/abc", "-1");
  EXPECT_EQ(Cores(16), 16);
  Quota1("/docker/abc", "250000");
  EXPECT_EQ(Cores(16), 3);
  Quota1("/docker", "200000");
  EXPECT_EQ(Cores(16), 2);
  Quota1("/elsewhere", "100000");
  EXPECT_EQ(Cores(16), 2) << "the group of another controller";
}

TEST_F(UsableCoresOf, AGroupWhoseFilesMakeNoSenseAreThoseItMayRunOn) {
  Write("proc/self/cgroup", "nonsense\n0::/user\n");
  for (const char* text : {"", "100000", "many 100000", "100000 0", "-5 100000"}) {
    Quota2("/user", text);
    EXPECT_EQ(Cores(16), 16) << text;
  }
}

TEST(UsableCores, FollowTheAffinityMask) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  CPU_ZERO(&one);
  for (size_t core = 0; CPU_COUNT(&one) == 0; ++core) {
    if (CPU_ISSET(core, &before)) CPU_SET(core, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(UsableCores(), 1);
  EXPECT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}

}  // namespace
}  // namespace sinkd
