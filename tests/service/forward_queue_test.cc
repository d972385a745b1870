#include "server/service/forward_queue.h"

#include <atomic>
#include <latch>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/base/status.h"
#include "tests/service/fake_catalog.h"

namespace sinkd::testing {
namespace {

using ::testing::ElementsAre;

constexpr size_t kBatchTokens = 2048;

// The device is held by another stream's job until Run, so that all samples wait together.
class ForwardQueueTest : public ::testing::Test {
 protected:
  ForwardQueueTest() {
    EXPECT_TRUE(other_->Submit({.run = [this](const absl::Status&) { held_.wait(); }}).ok());
  }
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

  void Run(Executor::ShutdownMode mode = Executor::ShutdownMode::kDrain) {
    held_.count_down();
    executor_.Shutdown(mode);
  }

  std::latch held_{1};
  std::atomic<int64_t> depth_{0};
  std::vector<std::string> outcomes_;
  std::stop_source stop_;
  Executor executor_{{}};
  std::unique_ptr<Executor::Stream> other_ = *executor_.OpenStream(1);
  std::shared_ptr<FakeRunner> runner_ = std::make_shared<FakeRunner>();
  std::shared_ptr<ForwardQueue> queue_ = std::make_shared<ForwardQueue>(
      runner_, *executor_.OpenStream(1),
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

TEST_F(ForwardQueueTest, BatchesMoreWhenWeightsAreStreamed) {
  runner_->info_.residency = Residency::kStreamed;
  for (int s = 0; s < 9; ++s) Push(kBatchTokens);
  Run();
  EXPECT_EQ(runner_->largest_batch(), 8);
  EXPECT_EQ(runner_->runs(), 9);
}

}  // namespace
}  // namespace sinkd::testing
