#include "server/scheduler/fair_order.h"

#include <deque>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sinkd {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

// Streams that always want more, each with jobs of its own length.
class Course {
 public:
  void Add(const std::string& name, const Account& account, double seconds) {
    Runner& runner = runners_.emplace_back();
    runner.name = name;
    runner.seconds = seconds;
    order_.Enter(runner, account);
    order_.SetWaiting(runner, true);
  }

  void SetWaiting(const std::string& name, bool waiting) { order_.SetWaiting(Find(name), waiting); }

  void Leave(const std::string& name) { order_.Leave(Find(name)); }

  std::string Step() {
    auto& next = static_cast<Runner&>(*order_.Next());
    FairOrder::Charge(next, next.seconds);
    return next.name;
  }

  // The time each got of the next `seconds`.
  std::map<std::string, double> Run(double seconds) {
    std::map<std::string, double> got;
    for (double time = 0; time < seconds;) {
      const std::string name = Step();
      got[name] += Find(name).seconds;
      time += Find(name).seconds;
    }
    return got;
  }

 private:
  struct Runner : FairOrder::Place {
    std::string name;
    double seconds = 1;
  };

  Runner& Find(const std::string& name) {
    return *std::find_if(runners_.begin(), runners_.end(),
                         [&](const Runner& runner) { return runner.name == name; });
  }

  std::deque<Runner> runners_;
  FairOrder order_;
};

TEST(FairOrder, NobodyIsNextWhenNobodyWaits) {
  FairOrder order;
  EXPECT_EQ(order.Next(), nullptr);
}

TEST(FairOrder, TwoEqualCallersGetTheSameTimeWhateverTheirJobsLast) {
  Course course;
  course.Add("long", {.caller = "a"}, 5);
  course.Add("short", {.caller = "b"}, 0.25);
  const auto got = course.Run(1000);
  EXPECT_THAT(got.at("long"), DoubleNear(500, 10));
  EXPECT_THAT(got.at("short"), DoubleNear(500, 10));
}

TEST(FairOrder, ACallersStreamsShareWhatIsTheCallers) {
  Course course;
  course.Add("a", {.caller = "a"}, 1);
  for (const char* name : {"b1", "b2", "b3", "b4"}) course.Add(name, {.caller = "b"}, 1);
  const auto got = course.Run(800);
  EXPECT_THAT(got.at("a"), DoubleNear(400, 2));
  for (const char* name : {"b1", "b2", "b3", "b4"}) EXPECT_THAT(got.at(name), DoubleNear(100, 2));
}

TEST(FairOrder, WeightsAreShares) {
  Course course;
  course.Add("one", {.caller = "a", .weight = 1}, 1);
  course.Add("three", {.caller = "b", .weight = 3}, 1);
  const auto got = course.Run(400);
  EXPECT_THAT(got.at("one"), DoubleNear(100, 2));
  EXPECT_THAT(got.at("three"), DoubleNear(300, 2));
}

TEST(FairOrder, BatchWorkKeepsAnEighthBesideBusyInteractiveWork) {
  Course course;
  course.Add("batch", {.caller = "a", .lane = Lane::kBatch}, 2);
  for (const char* name : {"i1", "i2", "i3"}) course.Add(name, {.caller = name}, 1);
  const auto got = course.Run(800);
  EXPECT_THAT(got.at("batch"), DoubleNear(100, 4));
  EXPECT_THAT(got.at("i1"), DoubleNear(700.0 / 3, 4));
}

TEST(FairOrder, AnInteractiveRequestIsNextHoweverLongBatchWorkHasBeenRunning) {
  Course course;
  course.Add("batch", {.caller = "a", .lane = Lane::kBatch}, 2);
  course.Add("person", {.caller = "a"}, 2);
  course.SetWaiting("person", false);
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 9; ++i) EXPECT_EQ(course.Step(), "batch");
    course.SetWaiting("person", true);
    EXPECT_EQ(course.Step(), "person");
    course.SetWaiting("person", false);
  }
}

TEST(FairOrder, TimeNotUsedIsNotSavedUp) {
  Course course;
  course.Add("busy", {.caller = "a"}, 1);
  course.Add("idle", {.caller = "b"}, 1);
  course.SetWaiting("idle", false);
  course.Run(1000);
  course.SetWaiting("idle", true);
  const auto got = course.Run(100);
  EXPECT_THAT(got.at("busy"), DoubleNear(50, 2));
}

TEST(FairOrder, ComingBackUnderTheSameNameWinsNothing) {
  Course course;
  course.Add("honest", {.caller = "a"}, 1);
  std::map<std::string, int> turns;
  for (int i = 0; i < 100; ++i) {
    const std::string name = "sly" + std::to_string(i);  // a new stream for every job, of 3 s
    course.Add(name, {.caller = "b"}, 3);
    while (course.Step() != name) ++turns["honest"];
    course.Leave(name);
  }
  EXPECT_GT(turns["honest"], 290);
}

TEST(FairOrder, OfEqualsTheOneThatWaitedLongestIsNext) {
  Course course;
  for (const char* name : {"a", "b", "c"}) course.Add(name, {}, 0);
  std::vector<std::string> steps;
  for (int i = 0; i < 6; ++i) steps.push_back(course.Step());
  EXPECT_THAT(steps, ElementsAre("a", "b", "c", "a", "b", "c"));
}

}  // namespace
}  // namespace sinkd
