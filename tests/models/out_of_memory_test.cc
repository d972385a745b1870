// A load that runs out of memory leaves none of it behind. A separate binary, since it changes
// how the allocator works.
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include <gtest/gtest.h>

#include "server/engine/memory/host_memory.h"
#include "tests/models/failed_load.h"

namespace sinkd::testing {
namespace {

TEST_F(FailedLoad, OutOfMemoryAtAnyPointLeavesNothing) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers hold memory of their own";
#endif
  // Blocks of this size then come from the system one by one, and count towards the limit.
  ASSERT_EQ(mallopt(M_MMAP_THRESHOLD, 1 << 20), 1);
  ArithmeticOfCpu();  // while there is memory
  rlimit unlimited = {};
  ASSERT_EQ(getrlimit(RLIMIT_DATA, &unlimited), 0);
  ExpectNothingLeft(ModelState::kFailed, [&](int i) {
    int64_t unused = 0, data_pages = 0;
    std::ifstream("/proc/self/statm") >> unused >> unused >> unused >> unused >> unused >>
        data_pages;
    rlimit limited = unlimited;
    limited.rlim_cur = static_cast<rlim_t>(data_pages * sysconf(_SC_PAGESIZE) + kHostReserveBytes +
                                           checkpoint_.weight_bytes() * i / (2 * kLoads));
    ASSERT_EQ(setrlimit(RLIMIT_DATA, &limited), 0);
    const absl::Status status = Load();
    ASSERT_EQ(setrlimit(RLIMIT_DATA, &unlimited), 0);
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  });
  ExpectLoads();
}

}  // namespace
}  // namespace sinkd::testing
