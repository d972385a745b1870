#include "server/service/analyze/forward_queue.h"

#include <atomic>
#include <latch>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/base/status.h"
#include "tests/service/fake_catalog.h"

namespace sinkd::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr size_t kBatchTokens = 2048;

// An executor whose only thread is held by another stream's job until Run, so that all samples wait
// together.
class HeldExecutor {
 public:
  explicit HeldExecutor(Lane lane) : other_(*executor_.OpenStream(1, {.lane = lane})) {
    const auto hold = [this](const absl::Status&) {
      holding_.count_down();
      held_.wait();
    };
    EXPECT_TRUE(other_->Submit({.run = hold}).ok());
    holding_.wait();  // else a sample pushed before the thread has started could go first
  }

  std::unique_ptr<Executor::Stream> OpenStream(const Account& account = {}) {
    return *executor_.OpenStream(1, account);
  }

  void Run(Executor::ShutdownMode mode) {
    held_.count_down();
    executor_.Shutdown(mode);
  }

 private:
  std::latch holding_{1};
  std::latch held_{1};
  Executor executor_{{}};
  std::unique_ptr<Executor::Stream> other_;
};

class ForwardQueueTest : public ::testing::Test {
 protected:
  ~ForwardQueueTest() override { queue_->Close(); }

  void Push(size_t length) {
    const size_t index = outcomes_.size();
    outcomes_.push_back("waits");
    queue_->Push(
        {.ids = TokenIds(length, 1),
         .begun = [this, index] { outcomes_[index] = "begun"; },
         .done =
             [this, index](const absl::StatusOr<Trace>& trace, std::chrono::duration<double>) {
               EXPECT_EQ(outcomes_[index], trace.status().code() == absl::StatusCode::kOk
                                               ? "begun"
                                               : outcomes_[index]);
               outcomes_[index] = absl::StatusCodeToString(trace.status().code());
             }});
  }

  void Run(Executor::ShutdownMode mode = Executor::ShutdownMode::kDrain) { executor_.Run(mode); }

  std::atomic<int64_t> depth_{0};
  std::vector<std::string> outcomes_;
  std::stop_source stop_;
  HeldExecutor executor_{Lane::kInteractive};
  std::shared_ptr<FakeRunner> runner_ = std::make_shared<FakeRunner>();
  std::shared_ptr<ForwardQueue> queue_ = ForwardQueue::Open(
      runner_, executor_.OpenStream(),
      ForwardQueue::Options{.stop = stop_.get_token(),
                            .on_depth = [this](int64_t change) { depth_ += change; }});
};

TEST_F(ForwardQueueTest, RunsWhatWaitsTogether) {
  for (const size_t length : {3u, 5u, 4u}) Push(length);
  EXPECT_EQ(depth_, 3);
  Run();
  EXPECT_THAT(outcomes_, ElementsAre("OK", "OK", "OK"));
  EXPECT_EQ(runner_->largest_batch(), 3);
  EXPECT_EQ(runner_->runs(), 3);
  EXPECT_EQ(depth_, 0);
}

TEST_F(ForwardQueueTest, CutsBatchesByTokens) {
  for (const size_t length : {kBatchTokens - 10, size_t{10}, size_t{1}, kBatchTokens + 1}) {
    Push(length);
  }
  std::vector<size_t> order;
  runner_->before_run = [&](const TokenIds& ids, std::stop_token) {
    order.push_back(ids.size());
    return absl::OkStatus();
  };
  Run();
  EXPECT_THAT(outcomes_, ElementsAre("OK", "OK", "OK", "OK"));
  EXPECT_THAT(order, ElementsAre(kBatchTokens - 10, 10, 1, kBatchTokens + 1));
  EXPECT_EQ(runner_->largest_batch(), 2);  // the longest alone
}

TEST_F(ForwardQueueTest, LetsOnlyTheSampleFailThatIsTooLong) {
  runner_->before_run = [](const TokenIds& ids, std::stop_token) {
    return ids.size() == 7 ? ResourceExhausted("out of memory", {.reason = "OUT_OF_MEMORY"})
                           : absl::OkStatus();
  };
  for (const size_t length : {3u, 7u, 4u}) Push(length);
  Run();
  EXPECT_THAT(outcomes_, ElementsAre("OK", "RESOURCE_EXHAUSTED", "OK"));
}

TEST_F(ForwardQueueTest, StopsABatchAsAWhole) {
  runner_->before_run = [](const TokenIds&, std::stop_token) { return Cancelled("stopped"); };
  for (const size_t length : {3u, 4u}) Push(length);
  Run();
  EXPECT_THAT(outcomes_, ElementsAre("CANCELLED", "CANCELLED"));
  EXPECT_EQ(runner_->runs(), 1);
}

TEST_F(ForwardQueueTest, GivesAllThatWaitTheReasonWhyTheirJobWasDropped) {
  for (const size_t length : {3u, 4u}) Push(length);
  stop_.request_stop();
  Run();
  EXPECT_THAT(outcomes_, ElementsAre("CANCELLED", "CANCELLED"));
  EXPECT_EQ(runner_->runs(), 0);
}

TEST_F(ForwardQueueTest, AnswersWhatComesAfterTheExecutorIsGone) {
  Run();
  Push(3);
  EXPECT_THAT(outcomes_, ElementsAre("UNAVAILABLE"));
  EXPECT_EQ(depth_, 0);
}

TEST_F(ForwardQueueTest, ForgetsWhatWaitsWhenClosed) {
  Push(3);
  queue_->Close();
  Push(4);
  EXPECT_EQ(depth_, 0);
  Run();
  EXPECT_THAT(outcomes_, ElementsAre("waits", "waits"));
  EXPECT_EQ(runner_->runs(), 0);
}

// Queues of one group; all samples wait until Run.
class ForwardGroupTest : public ::testing::Test {
 protected:
  ForwardGroupTest() {
    runner_->on_batch = [this](const std::vector<size_t>& lengths) { batches_.push_back(lengths); };
  }
  ~ForwardGroupTest() override {
    for (const auto& queue : queues_) queue->Close();
  }

  ForwardQueue& Open(Lane lane, std::stop_token stop = {}, TraceRequest request = {},
                     Executor::Clock::time_point deadline = Executor::Clock::time_point::max()) {
    const std::string caller = std::to_string(queues_.size());
    return *queues_.emplace_back(
        ForwardQueue::Open(runner_, executor_.OpenStream({.caller = caller, .lane = lane}),
                           {.group = groups_.For(runner_->info(), request),
                            .request = request,
                            .stop = std::move(stop),
                            .deadline = deadline}));
  }

  void Push(ForwardQueue& queue, size_t length) {
    queue.Push(
        {.ids = TokenIds(length, 1),
         .done = [this, length](const absl::StatusOr<Trace>& trace, std::chrono::duration<double>) {
           outcomes_[length] = absl::StatusCodeToString(trace.status().code());
         }});
  }

  void Run() { executor_.Run(Executor::ShutdownMode::kDrain); }

  std::vector<std::vector<size_t>> batches_;  // lengths of each pass
  std::map<size_t, std::string> outcomes_;    // by length
  HeldExecutor executor_{Lane::kBatch};
  std::shared_ptr<FakeRunner> runner_ = std::make_shared<FakeRunner>();
  ForwardGroups groups_;
  std::vector<std::shared_ptr<ForwardQueue>> queues_;
};

TEST_F(ForwardGroupTest, ShortSamplesOfManyStreamsRunInOnePass) {
  for (const size_t length : {3u, 4u, 5u}) Push(Open(Lane::kInteractive), length);
  Run();
  ASSERT_EQ(batches_.size(), 1u);
  EXPECT_THAT(batches_[0], UnorderedElementsAre(3, 4, 5));
  EXPECT_THAT(outcomes_, ElementsAre(Pair(3, "OK"), Pair(4, "OK"), Pair(5, "OK")));
}

TEST_F(ForwardGroupTest, APassIsFilledNoFurtherThanItsTokens) {
  Push(Open(Lane::kBatch), kBatchTokens - 10);
  Push(Open(Lane::kBatch), 11);
  Push(Open(Lane::kBatch), 10);
  Run();
  EXPECT_THAT(batches_, ElementsAre(ElementsAre(kBatchTokens - 10, 10), ElementsAre(11)));
}

TEST_F(ForwardGroupTest, APersonsSamplesDoNotWaitForBatchWorkInTheirPass) {
  Push(Open(Lane::kInteractive), 3);
  Push(Open(Lane::kBatch), 4);
  Push(Open(Lane::kInteractive), 5);
  Run();
  EXPECT_THAT(batches_, ElementsAre(ElementsAre(3, 5), ElementsAre(4)));
}

TEST_F(ForwardGroupTest, OtherRequestsRunApart) {
  Push(Open(Lane::kInteractive), 3);
  Push(Open(Lane::kInteractive, {}, {.attention = false}), 4);
  Run();
  EXPECT_THAT(batches_, ElementsAre(ElementsAre(3), ElementsAre(4)));
}

TEST_F(ForwardGroupTest, WhoHasStoppedOrIsTooLateIsNotTakenAlong) {
  std::stop_source stop;
  Push(Open(Lane::kInteractive), 3);
  Push(Open(Lane::kInteractive, stop.get_token()), 4);
  Push(Open(Lane::kInteractive, {}, {}, Executor::Clock::time_point::min()), 5);
  stop.request_stop();
  Run();
  EXPECT_THAT(batches_, ElementsAre(ElementsAre(3)));
  EXPECT_THAT(outcomes_,
              ElementsAre(Pair(3, "OK"), Pair(4, "CANCELLED"), Pair(5, "DEADLINE_EXCEEDED")));
}

TEST_F(ForwardGroupTest, APassStopsOnlyWhenAllItsStreamsHave) {
  std::stop_source first, second;
  Push(Open(Lane::kInteractive, first.get_token()), 3);
  Push(Open(Lane::kInteractive, second.get_token()), 4);
  runner_->before_run = [&](const TokenIds&, std::stop_token stop) {
    first.request_stop();
    EXPECT_FALSE(stop.stop_requested());
    second.request_stop();
    EXPECT_TRUE(stop.stop_requested());
    return Cancelled("stopped");
  };
  Run();
  EXPECT_THAT(outcomes_, ElementsAre(Pair(3, "CANCELLED"), Pair(4, "CANCELLED")));
}

TEST_F(ForwardGroupTest, OneBadSampleIsTheTroubleOfItsStreamAlone) {
  for (const size_t length : {3u, 4u, 5u}) Push(Open(Lane::kInteractive), length);
  runner_->before_run = [](const TokenIds& ids, std::stop_token) {
    return ids.size() == 4 ? ResourceExhausted("out of memory", {.reason = "OUT_OF_MEMORY"})
                           : absl::OkStatus();
  };
  Run();
  EXPECT_THAT(outcomes_, ElementsAre(Pair(3, "OK"), Pair(4, "RESOURCE_EXHAUSTED"), Pair(5, "OK")));
}

TEST_F(ForwardQueueTest, BatchesMoreWhenWeightsAreStreamed) {
  runner_->info_.residency = Residency::kStreamed;
  for (int s = 0; s < 9; ++s) Push(kBatchTokens);
  Run();
  EXPECT_EQ(runner_->largest_batch(), 8);
  EXPECT_EQ(runner_->runs(), 9);
}

}  // namespace
}  // namespace sinkd::testing
