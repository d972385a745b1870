#include "server/engine/memory/own_thread.h"

#include <dirent.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

namespace sinkd {
namespace {

int ThreadsOfThisProcess() {
  DIR* const tasks = opendir("/proc/self/task");
  int count = 0;
  while (const dirent* entry = readdir(tasks)) count += entry->d_name[0] != '.' ? 1 : 0;
  closedir(tasks);
  return count;
}

TEST(OnOwnThread, LeavesNoTeamOfOpenMp) {
  at::set_num_threads(4);
  const int before = ThreadsOfThisProcess();
  int within = 0;
  OnOwnThread([&] {
    at::ones({1 << 22}).exp_();
    within = ThreadsOfThisProcess();
  });
  EXPECT_EQ(within, before + 4);  // the thread and the three others of its team
  // They are told to end, and not waited for.
  for (int look = 0; look < 10000 && ThreadsOfThisProcess() > before; ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(ThreadsOfThisProcess(), before);
}

TEST(OnOwnThread, BeatsForTheJobThatWaits) {
  WorkBeat beat;
  const WorkBeat::Job job(beat);
  const int64_t before = beat.Now().beats;
  EXPECT_EQ(OnOwnThread([] {
              Beat();
              return 7;
            }),
            7);
  EXPECT_EQ(beat.Now().beats, before + 1);
  EXPECT_TRUE(beat.Now().working);
}

TEST(OnOwnThread, ThrowsWhatTheWorkThrows) {
  EXPECT_THROW(OnOwnThread([] { throw std::runtime_error("no"); }), std::runtime_error);
}

}  // namespace
}  // namespace sinkd
