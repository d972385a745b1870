// A forward pass that runs out of memory costs that pass alone. A separate binary, since it
// limits the process.
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include <gtest/gtest.h>

#include "server/base/status.h"
#include "server/engine/memory/host_memory.h"
#include "tests/models/failed_load.h"
#include "tests/testing/process_memory.h"

namespace sinkd::testing {
namespace {

constexpr int kTimes = 5;
constexpr size_t kShort = 100;
constexpr size_t kLong = 2000;

class PassOutOfMemory : public FailedLoad {
 protected:
  static void SetUpTestSuite() {
    SetComputeThreads(2);
    ArithmeticOfCpu();  // while there is memory
  }
  void SetUp() override {
    ASSERT_EQ(getrlimit(RLIMIT_DATA, &unlimited_), 0);
    ASSERT_TRUE(Load().ok());
    model_ = *registry_.Acquire("large");
  }
  void TearDown() override { setrlimit(RLIMIT_DATA, &unlimited_); }

  absl::StatusOr<std::vector<Trace>> Run(size_t length) const {
    const TokenIds ids(length, 7);
    return model_->model->Run({&ids, 1}, {});
  }
  // So many bytes more than now.
  void LimitTo(int64_t bytes) const {
    int64_t unused = 0, data_pages = 0;
    std::ifstream("/proc/self/statm") >> unused >> unused >> unused >> unused >> unused >>
        data_pages;
    rlimit limit = unlimited_;
    limit.rlim_cur = static_cast<rlim_t>(data_pages * getpagesize() + bytes);
    ASSERT_EQ(setrlimit(RLIMIT_DATA, &limit), 0);
  }

  rlimit unlimited_ = {};
  ModelHandle model_;
};

TEST_F(PassOutOfMemory, CostsThatPassAlone) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers hold memory of their own";
#endif
  const auto before = Run(kShort);
  ASSERT_TRUE(before.ok()) << before.status();
  const double resident = StatusBytes("RssAnon");
  LimitTo(kHostReserveBytes + 4 * kMebibyte);
  for (int i = 0; i < kTimes; ++i) {
    const absl::Status refused = Run(kLong).status();
    ASSERT_TRUE(absl::IsResourceExhausted(refused)) << refused;
    EXPECT_EQ(GetErrorDetail(refused)->reason, "DEVICE_OUT_OF_MEMORY");
    const auto next = Run(kShort);
    ASSERT_TRUE(next.ok()) << next.status();
    EXPECT_EQ(next->front().state_norm, before->front().state_norm);
  }
  EXPECT_LT(StatusBytes("RssAnon"), resident + 40 * kMebibyte) << "half passes stay";
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &unlimited_), 0);
  EXPECT_TRUE(Run(kLong).ok()) << "with memory it runs";
}

}  // namespace
}  // namespace sinkd::testing
