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
  explicit Bench(Executor::Options options = {}) : executor(WithOwnTime(std::move(options))) {
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

  Stream Open(size_t slots, const Account& account = {}) {
    absl::StatusOr<Stream> stream = executor.OpenStream(slots, account);
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

  // As Job, but of a length.
  Executor::Job TimedJob(std::string name, int64_t seconds) {
    return {.run = [this, name, seconds](const absl::Status&) {
      log.push_back(name);
      elapsed += seconds;
    }};
  }

  std::atomic<int64_t> elapsed{0};  // seconds; what durations are measured by
  std::vector<std::string> log;     // written on the executor's thread, read after Finish

 private:
  Executor::Options WithOwnTime(Executor::Options options) {
    options.now = [this] { return Executor::Clock::time_point(std::chrono::seconds(elapsed)); };
    return options;
  }

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

TEST(Executor, AJobThatThrowsEndsAlone) {
  std::vector<absl::Status> errors;
  Executor executor({.on_exception = [&](const absl::Status& error) { errors.push_back(error); }});
  const Stream stream = *executor.OpenStream(3);
  bool ran = false;
  ASSERT_TRUE(stream->Submit({.run = [](const absl::Status&) { throw std::bad_alloc(); }}).ok());
  ASSERT_TRUE(stream->Submit({.run = [](const absl::Status&) { throw 1; }}).ok());
  ASSERT_TRUE(stream->Submit({.run = [&](const absl::Status&) { ran = true; }}).ok());
  executor.Shutdown(Executor::ShutdownMode::kDrain);
  EXPECT_TRUE(ran);
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_TRUE(absl::IsResourceExhausted(errors[0]));
  EXPECT_TRUE(absl::IsInternal(errors[1]));
}

TEST(Executor, SharesItsTimeAndNotItsTurns) {
  Bench bench;
  const Stream a = bench.Open(3, {.caller = "a"});
  const Stream b = bench.Open(6, {.caller = "b"});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(a->Submit(bench.TimedJob("a", 7)).ok());
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(b->Submit(bench.TimedJob("b", 3)).ok());
  bench.Finish();
  EXPECT_THAT(bench.log, testing::ElementsAre("a", "b", "b", "b", "a", "b", "b", "a", "b"));
}

TEST(Executor, AnInteractiveJobOvertakesABatchOfMany) {
  Bench bench;
  const Stream batch = bench.Open(5, {.caller = "a", .lane = Lane::kBatch});
  const Stream person = bench.Open(1, {.caller = "a", .lane = Lane::kInteractive});
  EXPECT_EQ(person->lane(), Lane::kInteractive);
  ASSERT_TRUE(batch
                  ->Submit({.run =
                                [&](const absl::Status&) {
                                  bench.log.push_back("first");
                                  bench.elapsed += 3;
                                  ASSERT_TRUE(person->Submit(bench.TimedJob("person", 1)).ok());
                                }})
                  .ok());
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(batch->Submit(bench.TimedJob("batch", 3)).ok());
  bench.OpenGate();
  while (bench.executor.waiting() > 0) std::this_thread::yield();  // one that drains takes no more
  bench.Finish();
  EXPECT_THAT(bench.log,
              testing::ElementsAre("first", "person", "batch", "batch", "batch", "batch"));
}

TEST(Executor, TimeTakenOverIsOnTheOtherAccount) {
  Bench bench;
  const Stream a = bench.Open(3, {.caller = "a"});
  const Stream b = bench.Open(3, {.caller = "b"});
  ASSERT_TRUE(a->Submit({.run = [&](const absl::Status&) {
                 bench.log.push_back("a");
                 bench.elapsed += 4;  // all of it for b
                 b->TakeOver(*a, 4);
               }}).ok());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(a->Submit(bench.TimedJob("a", 2)).ok());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(b->Submit(bench.TimedJob("b", 2)).ok());
  bench.Finish();
  EXPECT_THAT(bench.log, testing::ElementsAre("a", "a", "a", "b", "b"));
}

TEST(Executor, TellsWhatItIsDoing) {
  Bench bench({.name = "cpu", .capacity = 9});
  const Stream a = bench.Open(2, {.caller = "a", .lane = Lane::kBatch});
  ASSERT_TRUE(a->Submit(bench.Job("a1")).ok());
  bench.elapsed += 5;
  const ExecutorSnapshot snapshot = bench.executor.Snapshot();
  EXPECT_EQ(snapshot.name, "cpu");
  EXPECT_EQ(snapshot.capacity, 9);
  EXPECT_EQ(snapshot.reserved, 3);
  EXPECT_EQ(snapshot.jobs_done, 0);
  EXPECT_EQ(snapshot.busy_seconds, 5);
  EXPECT_EQ(snapshot.longest_wait_seconds, 5);
  ASSERT_EQ(snapshot.running.size(), 1u);
  EXPECT_EQ(snapshot.running[0].seconds, 5);
  ASSERT_EQ(snapshot.callers.size(), 2u);
  EXPECT_EQ(snapshot.callers[1].name, "a");
  EXPECT_EQ(snapshot.callers[1].lane, Lane::kBatch);
  EXPECT_EQ(snapshot.callers[1].streams, 1);
  EXPECT_EQ(snapshot.callers[1].waiting, 1);
  bench.Finish();
  EXPECT_EQ(bench.executor.Snapshot().jobs_done, 2);
  EXPECT_EQ(bench.executor.Snapshot().longest_wait_seconds, 0);
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

TEST(Executor, RefusesTheCallerWhoHoldsHisPartAndTakesOthers) {
  Bench bench({.name = "cpu", .capacity = 9, .caller_percent = 50});
  Stream first = bench.Open(4, {.caller = "a"});
  const absl::StatusOr<Stream> refused = bench.executor.OpenStream(1, {.caller = "a"});
  ASSERT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(GetErrorDetail(refused.status())->reason, "CALLER_LIMIT");
  const Stream other = bench.Open(2, {.caller = "b"});
  first.reset();
  EXPECT_TRUE(bench.executor.OpenStream(1, {.caller = "a"}).ok());
}

TEST(Executor, LeavesAThreadToOtherCallers) {
  Executor executor({.threads = 2, .capacity = 8, .caller_percent = 50});
  std::atomic_flag gate;
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  std::atomic<int> done = 0;
  const auto open = [&gate] {
    gate.test_and_set();
    gate.notify_all();
  };
  const auto hold = [&](const absl::Status&) {
    most = std::max<int>(most, ++running);
    if (most > 1) open();  // where no thread is left to whom the gate waits for
    gate.wait(false);
    --running;
    ++done;
  };
  std::vector<Stream> streams;
  for (int i = 0; i < 3; ++i) {
    streams.push_back(*executor.OpenStream(1, {.caller = "a"}));
    ASSERT_TRUE(streams.back()->Submit({.run = hold}).ok());
  }
  streams.push_back(*executor.OpenStream(1, {.caller = "b"}));
  ASSERT_TRUE(streams.back()->Submit({.run = [&open](const absl::Status&) { open(); }}).ok());
  gate.wait(false);
  executor.Shutdown(Mode::kDrain);
  EXPECT_EQ(most, 1);
  EXPECT_EQ(done, 3);
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
  const auto at = [](int64_t seconds) {
    return Executor::Clock::time_point(std::chrono::seconds(seconds));
  };
  Bench bench;
  bench.elapsed = 100;
  const Stream a = bench.Open(2);
  ASSERT_TRUE(a->Submit(bench.Job("early", {}, at(110))).ok());
  ASSERT_TRUE(a->Submit(bench.Job("late", {}, at(130))).ok());
  bench.elapsed = 120;
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
