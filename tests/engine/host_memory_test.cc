// Limits on memory as the kernel tells them, in a tree made up for the test.
#include "server/engine/memory/host_memory.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "server/base/str_cat.h"

namespace sinkd {
namespace {

namespace fs = std::filesystem;

class HostMemory : public ::testing::Test {
 protected:
  HostMemory() {
    Write("proc/meminfo", "MemTotal: 9000 kB\nMemFree: 1 kB\nMemAvailable: 1000 kB\n");
  }
  ~HostMemory() override { fs::remove_all(root_); }

  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  void Group2(const std::string& group, const std::string& limit, const std::string& used,
              const std::string& stat = "") const {
    Write("sys/fs/cgroup" + group + "/memory.max", limit + "\n");
    Write("sys/fs/cgroup" + group + "/memory.current", used + "\n");
    Write("sys/fs/cgroup" + group + "/memory.stat", stat);
  }
  void Group1(const std::string& group, const std::string& limit, const std::string& used,
              const std::string& stat = "") const {
    Write("sys/fs/cgroup/memory" + group + "/memory.limit_in_bytes", limit + "\n");
    Write("sys/fs/cgroup/memory" + group + "/memory.usage_in_bytes", used + "\n");
    Write("sys/fs/cgroup/memory" + group + "/memory.stat", stat);
  }
  int64_t Free() const { return FreeHostBytes(root_); }

  const fs::path root_ = fs::path(::testing::TempDir()) / StrCat("host_memory_", getpid());
};

TEST_F(HostMemory, IsWhatTheHostHasWhereNoGroupLimitsIt) {
  EXPECT_EQ(Free(), 1024000);
  Write("proc/self/cgroup", "0::/user/one\n");
  EXPECT_EQ(Free(), 1024000) << "no files of the group";
  Group2("/user/one", "max", "5000");
  EXPECT_EQ(Free(), 1024000);
  Group2("/user/one", "90000000", "5000");
  EXPECT_EQ(Free(), 1024000) << "more than the host has";
}

TEST_F(HostMemory, IsWhatAGroupOfVersion2Allows) {
  Write("proc/self/cgroup", "0::/user/one\n");
  Group2("/user/one", "600000", "500000", "anon 7\ninactive_file 30000\nactive_file 4000\n");
  EXPECT_EQ(Free(), 134000) << "cache gives way";
  Group2("/user", "200000", "190000");
  EXPECT_EQ(Free(), 10000) << "the group above allows less";
  Group2("/user", "200000", "300000");
  EXPECT_EQ(Free(), 0);
}

TEST_F(HostMemory, IsWhatAContainersMountAllows) {
  Write("proc/self/cgroup", "0::/\n");
  Group2("", "600000", "500000");
  EXPECT_EQ(Free(), 100000);
}

TEST_F(HostMemory, IsWhatAGroupOfVersion1Allows) {
  Write("proc/self/cgroup", "5:cpu,cpuacct:/elsewhere\n4:memory:/docker/abc\n0::/docker/abc\n");
  Group1("/docker/abc", "9223372036854771712", "500000");
  EXPECT_EQ(Free(), 1024000) << "that number means no limit";
  Group1("/docker/abc", "600000", "500000",
         "inactive_file 1\ntotal_inactive_file 30000\ntotal_active_file 4000\n");
  EXPECT_EQ(Free(), 134000);
  Group1("/docker", "510000", "500000");
  EXPECT_EQ(Free(), 10000);
}

TEST_F(HostMemory, IsFoundAtTheMountWhereTheGroupHasAnotherNameOutside) {
  Write("proc/self/cgroup", "4:name=systemd:/x\n3:memory:/docker/abc\n");
  Group1("", "600000", "500000");
  EXPECT_EQ(Free(), 100000);
}

TEST_F(HostMemory, IsZeroWhereNothingIsKnown) {
  fs::remove_all(root_);
  EXPECT_EQ(Free(), 0);
}

}  // namespace
}  // namespace sinkd
