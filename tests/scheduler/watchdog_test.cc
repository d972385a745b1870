#include "server/scheduler/watchdog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <vector>

namespace sinkd {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

MATCHER_P2(IsChange, name, stuck, "") {
  return arg.name == name && arg.stuck == stuck;
}

ExecutorSnapshot Snapshot(std::string name, std::vector<WorkBeat::State> beats) {
  ExecutorSnapshot snapshot;
  snapshot.name = std::move(name);
  snapshot.beats = std::move(beats);
  return snapshot;
}

ExecutorSnapshot Working(std::string name, int64_t beats) {
  return Snapshot(std::move(name), {{.working = true, .beats = beats}});
}

TEST(StuckExecutors, TellWhenAThreadStandsStillAndWhenItGoesOn) {
  StuckExecutors stuck(seconds(30));
  EXPECT_THAT(stuck.Look(seconds(10), {Working("cpu", 1)}), IsEmpty());
  EXPECT_THAT(stuck.Look(seconds(29), {Working("cpu", 1)}), IsEmpty());
  EXPECT_THAT(stuck.Look(seconds(1), {Working("cpu", 1)}), ElementsAre(IsChange("cpu", true)));
  EXPECT_EQ(stuck.count(), 1);
  EXPECT_THAT(stuck.Look(seconds(1), {Working("cpu", 1)}), IsEmpty());
  EXPECT_THAT(stuck.Look(seconds(1), {Working("cpu", 2)}), ElementsAre(IsChange("cpu", false)));
  EXPECT_EQ(stuck.count(), 0);
}

TEST(StuckExecutors, LeaveALongJobAloneAsLongAsItBeats) {
  StuckExecutors stuck(seconds(30));
  for (int64_t beat = 0; beat < 100; ++beat) {
    EXPECT_THAT(stuck.Look(seconds(29), {Working("cpu", beat)}), IsEmpty());
  }
}

TEST(StuckExecutors, LeaveAnIdleOneAlone) {
  StuckExecutors stuck(seconds(30));
  for (int i = 0; i < 9; ++i) {
    EXPECT_THAT(stuck.Look(seconds(60), {Snapshot("cpu", {{.working = false, .beats = 7}})}),
                IsEmpty());
  }
}

TEST(StuckExecutors, KnowThreadsAndExecutorsApart) {
  StuckExecutors stuck(seconds(30));
  const WorkBeat::State still = {.working = true, .beats = 5};
  const auto look = [&](int64_t beat) {
    return stuck.Look(seconds(20), {Snapshot("a", {{.working = true, .beats = beat}, still}),
                                    Working("b", beat)});
  };
  EXPECT_THAT(look(1), IsEmpty());
  EXPECT_THAT(look(2), IsEmpty());
  EXPECT_THAT(look(3), ElementsAre(IsChange("a", true)));
}

TEST(Watchdog, NoticesAJobThatHangsAndThatItGoesOn) {
  Executor executor({.name = "cpu"});
  std::promise<void> stuck, free, moving;
  const Watchdog watchdog(
      std::chrono::milliseconds(100), [&] { return std::vector{executor.Snapshot()}; },
      [&](const StuckExecutors::Change& change, int64_t count) {
        EXPECT_EQ(change.name, "cpu");
        EXPECT_EQ(count, change.stuck ? 1 : 0);
        (change.stuck ? stuck : moving).set_value();
      });
  const auto stream = executor.OpenStream(1);
  ASSERT_TRUE(stream.ok());
  ASSERT_TRUE(
      (*stream)->Submit({.run = [&](const absl::Status&) { free.get_future().wait(); }}).ok());
  stuck.get_future().wait();
  free.set_value();
  moving.get_future().wait();
}

TEST(Watchdog, LooksAtOnceWhenAsked) {
  std::atomic<int64_t> beats = 1;
  std::promise<void> stuck;
  std::atomic<bool> told = false, moving = false;
  Watchdog watchdog(
      std::chrono::milliseconds(100), [&] { return std::vector{Working("cpu", beats)}; },
      [&](const StuckExecutors::Change& change, int64_t) {
        if (!change.stuck) moving = true;
        if (change.stuck && !told.exchange(true)) stuck.set_value();
      });
  stuck.get_future().wait();
  beats = 2;
  watchdog.LookNow();
  EXPECT_TRUE(moving);
}

TEST(Beat, CountsInTheJobOfItsThreadAlone) {
  Beat();
  WorkBeat beat;
  {
    const WorkBeat::Job job(beat);
    EXPECT_TRUE(beat.Now().working);
    const int64_t before = beat.Now().beats;
    Beat();
    EXPECT_EQ(beat.Now().beats, before + 1);
    std::async(std::launch::async, [] { Beat(); }).wait();
    EXPECT_EQ(beat.Now().beats, before + 1);
  }
  EXPECT_FALSE(beat.Now().working);
}

}  // namespace
}  // namespace sinkd
