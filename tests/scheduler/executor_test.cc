#include "server/scheduler/executor.h"

#include <atomic>
#include <future>
#include <latch>
#include <mutex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/base/status.h"
#include "server/scheduler/device_pool.h"

namespace sinkd {
namespace {

using Mode = Executor::ShutdownMode;
using Stream = std::unique_ptr<Executor::Stream>;

// An executor whose one thread is held at a gate until the test opens it, and a log of what ran.
class Bench {
 public:
  explicit Bench(Executor::Options options = {}) : executor(std::move(options)) {
    gate_stream_ = Open(1);
    EXPECT_TRUE(gate_stream_
                    ->Submit({.run =
                                  [this](const absl::Status&) {
                                    held_.count_down();
                                    gate_.wait();
                                  }})
                    .ok());
    held_.wait();
  }
  ~Bench() { OpenGate(); }

  void OpenGate() {
    if (!open_) gate_.count_down();
    open_ = true;
  }

  // Runs what was admitted and waits until all of it is done.
  void Finish(Mode mode = Mode::kDrain) {
    OpenGate();
    executor.Shutdown(mode);
  }

  Stream Open(size_t slots) {
    absl::StatusOr<Stream> stream = executor.OpenStream(slots);
    EXPECT_TRUE(stream.ok()) << stream.status();
    return *std::move(stream);
  }

  Executor::Job Job(std::string name, std::stop_token stop = {},
                    Executor::Clock::time_point deadline = Executor::Clock::time_point::max()) {
    return {.run =
                [this, name](const absl::Status& admitted) {
                  log.push_back(admitted.ok()
                                    ? name
                                    : name + " " + absl::StatusCodeToString(admitted.code()));
                },
            .stop = std::move(stop),
            .deadline = deadline};
  }

  std::vector<std::string> log;  // written on the executor's thread, read after Finish

 private:
  std::latch held_{1};
  std::latch gate_{1};
  bool open_ = false;
  Stream gate_stream_;

 public:
  Executor executor;
};

TEST(Executor, TakesTurnsBetweenStreams) {
  Bench bench;
  const Stream a = bench.Open(3);
  const Stream b = bench.Open(2);
  for (const char* name : {"a1", "a2", "a3"}) ASSERT_TRUE(a->Submit(bench.Job(name)).ok());
  for (const char* name : {"b1", "b2"}) ASSERT_TRUE(b->Submit(bench.Job(name)).ok());
  EXPECT_EQ(bench.executor.waiting(), 5u);
  bench.Finish();
  EXPECT_THAT(bench.log, testing::ElementsAre("a1", "b1", "a2", "b2", "a3"));
  EXPECT_EQ(bench.executor.waiting(), 0u);
}

TEST(Executor, TakesBackWhatAStreamDropsWhileAnotherJobRuns) {
  Bench bench;
  const Stream a = bench.Open(2);
  const Stream b = bench.Open(1);
  const auto held = std::make_shared<int>();  // what the jobs of a stream keep alive
  for (int i = 0; i < 2; ++i) {
    Executor::Job job = bench.Job("a");
    job.run = [run = job.run, held](const absl::Status& admitted) { run(admitted); };
    ASSERT_TRUE(a->Submit(std::move(job)).ok());
  }
  ASSERT_TRUE(b->Submit(bench.Job("b")).ok());
  EXPECT_EQ(held.use_count(), 3);
  a->Drop();
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(bench.executor.waiting(), 1u);
  EXPECT_EQ(a->Submit(bench.Job("a")).code(), absl::StatusCode::kCancelled);
  a->Drop();
  bench.Finish();
  EXPECT_THAT(bench.log, testing::ElementsAre("b"));
}

TEST(Executor, RefusesAStreamWhenTooFewSlotsAreLeftAndTakesItOnceOneIsGone) {
  Bench bench({.name = "cpu", .capacity = 9});
  Stream a = bench.Open(6);
  const absl::StatusOr<Stream> refused = bench.executor.OpenStream(3);
  ASSERT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
  const std::optional<ErrorDetail> detail = GetErrorDetail(refused.status());
  ASSERT_TRUE(detail);
  EXPECT_EQ(detail->reason, "QUEUE_FULL");
  EXPECT_EQ(detail->subject, "cpu");
  EXPECT_TRUE(detail->retry_after);
  a.reset();
  EXPECT_TRUE(bench.executor.OpenStream(3).ok());
}

TEST(Executor, RefusesMoreThanAStreamsSlots) {
  Bench bench;
  const Stream a = bench.Open(1);
  ASSERT_TRUE(a->Submit(bench.Job("a1")).ok());
  const absl::Status refused = a->Submit(bench.Job("a2"));
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(GetErrorDetail(refused)->reason, "STREAM_QUEUE_FULL");
  bench.Finish();
  EXPECT_THAT(bench.log, testing::ElementsAre("a1"));
}

TEST(Executor, DropsAJobWhoseStopTokenIsSetBeforeItRuns) {
  Bench bench;
  std::stop_source stop;
  const Stream a = bench.Open(2);
  ASSERT_TRUE(a->Submit(bench.Job("a1", stop.get_token())).ok());
  ASSERT_TRUE(a->Submit(bench.Job("a2")).ok());
  stop.request_stop();
  bench.Finish();
  EXPECT_THAT(bench.log, testing::ElementsAre("a1 CANCELLED", "a2"));
}

TEST(Executor, DropsAJobWhoseDeadlinePassedBeforeItRuns) {
  std::atomic<int64_t> now{100};
  const auto at = [](int64_t seconds) {
    return Executor::Clock::time_point(std::chrono::seconds(seconds));
  };
  Bench bench({.now = [&] { return at(now); }});
  const Stream a = bench.Open(2);
  ASSERT_TRUE(a->Submit(bench.Job("early", {}, at(110))).ok());
  ASSERT_TRUE(a->Submit(bench.Job("late", {}, at(130))).ok());
  now = 120;
  bench.Finish();
  EXPECT_THAT(bench.log, testing::ElementsAre("early DEADLINE_EXCEEDED", "late"));
}

TEST(Executor, DropsWhatWaitsOfAStreamThatIsGone) {
  Bench bench;
  Stream a = bench.Open(1);
  ASSERT_TRUE(a->Submit(bench.Job("a1")).ok());
  a.reset();
  bench.Finish();
  EXPECT_THAT(bench.log, testing::ElementsAre("a1 CANCELLED"));
}

TEST(Executor, CancellingShutdownDropsWhatWaitsAndRefusesMore) {
  Bench bench;
  const Stream a = bench.Open(2);
  ASSERT_TRUE(a->Submit(bench.Job("a1")).ok());
  std::promise<void> closing;
  std::thread shutdown([&] {
    closing.set_value();
    bench.executor.Shutdown(Mode::kCancel);
  });
  closing.get_future().wait();
  // The gate opens only after the executor refuses work, so that a1 cannot run before.
  while (bench.executor.OpenStream(1).ok()) std::this_thread::yield();
  bench.OpenGate();
  shutdown.join();
  EXPECT_THAT(bench.log, testing::ElementsAre("a1 UNAVAILABLE"));
  const absl::Status refused = a->Submit(bench.Job("a2"));
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(GetErrorDetail(refused)->retry_after);
}

TEST(Executor, AStreamMayOutliveItsExecutor) {
  Stream stream;
  {
    Executor executor({});
    stream = *executor.OpenStream(1);
  }
  EXPECT_EQ(stream->Submit({.run = [](const absl::Status&) { FAIL(); }}).code(),
            absl::StatusCode::kUnavailable);
}

TEST(Executor, RunsEveryJobOnceWhenManyThreadsSubmit) {
  constexpr int kThreads = 8;
  constexpr int kJobs = 200;
  std::atomic<int> ran{0};
  Executor executor({.threads = 2, .capacity = kThreads * kJobs});
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      const Stream stream = *executor.OpenStream(kJobs);
      std::latch done(kJobs);
      for (int j = 0; j < kJobs; ++j) {
        ASSERT_TRUE(stream
                        ->Submit({.run =
                                      [&](const absl::Status& admitted) {
                                        ran += admitted.ok() ? 1 : 0;
                                        done.count_down();
                                      }})
                        .ok());
      }
      done.wait();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ran, kThreads * kJobs);
}

TEST(DevicePool, GivesEachDeviceItsOwnExecutor) {
  DevicePool pool({.capacity = 4});
  EXPECT_EQ(&pool.For("cpu"), &pool.For("cpu"));
  EXPECT_NE(&pool.For("cpu"), &pool.For("cuda:0"));
  pool.Shutdown(Mode::kDrain);
  EXPECT_EQ(pool.For("cpu").OpenStream(1).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(pool.For("cuda:1").OpenStream(1).status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace sinkd
