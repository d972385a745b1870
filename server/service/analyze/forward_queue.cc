#include "server/service/analyze/forward_queue.h"

#include <algorithm>
#include <atomic>
#include <list>
#include <set>
#include <utility>

#include "server/base/containment.h"

namespace sinkd {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Tokens of a batch; one sample may be longer. With resident weights larger batches would only let
// others wait, as matrix products already run at full speed.
constexpr size_t kResidentTokens = 2048;
constexpr size_t kStreamedTokens = 16384;

// How long a model with streamed weights waits for one more sample: little beside reading them.
constexpr std::chrono::milliseconds kLinger{50};

}  // namespace

// Stops once all of a batch's streams have stopped: whoever leaves ends only what is his.
class ForwardQueue::JointStop {
 public:
  explicit JointStop(const Batch& batch) {
    std::set<const ForwardQueue*> queues;
    for (const Member& member : batch) queues.insert(member.queue.get());
    left_ = queues.size();
    for (const ForwardQueue* queue : queues) {
      callbacks_.emplace_back(queue->options_.stop, [this] {
        if (--left_ == 0) source_.request_stop();
      });
    }
  }

  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::atomic<size_t> left_;
  std::list<std::stop_callback<std::function<void()>>> callbacks_;
};

std::shared_ptr<ForwardQueue> ForwardQueue::Open(std::shared_ptr<const SampleRunner> runner,
                                                 std::unique_ptr<Executor::Stream> device,
                                                 Options options) {
  const std::shared_ptr<ForwardQueue> queue(
      new ForwardQueue(std::move(runner), std::move(device), std::move(options)));
  if (queue->options_.group) queue->options_.group->Join(queue);
  return queue;
}

ForwardQueue::ForwardQueue(std::shared_ptr<const SampleRunner> runner,
                           std::unique_ptr<Executor::Stream> device, Options options)
    : runner_(std::move(runner)), device_(std::move(device)), options_(std::move(options)) {}

void ForwardQueue::Count(int64_t change) const {
  if (options_.on_depth) options_.on_depth(change);
}

void ForwardQueue::Push(WaitingSample sample) {
  absl::Status submitted;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    waiting_.push_back(std::move(sample));
    Count(1);
    if (!scheduled_) submitted = Submit();
  }
  pushed_.notify_one();
  if (!submitted.ok()) Fail(submitted);
}

absl::Status ForwardQueue::Submit() {
  absl::Status submitted = device_->Submit(
      {.run = [self = shared_from_this()](const absl::Status& admitted) { self->Work(admitted); },
       .stop = options_.stop,
       .deadline = options_.deadline});
  scheduled_ = submitted.ok();
  return submitted;
}

void ForwardQueue::Work(const absl::Status& admitted) {
  if (!admitted.ok()) Fail(admitted);
  do {
    size_t room = BatchTokens();
    Batch batch = Take(room);
    FillUp(room, batch);
    Run(std::move(batch));
  } while (MustGoOn());
}

// An executor that drains takes no new job, and what waits here is part of the one it runs.
bool ForwardQueue::MustGoOn() {
  const std::lock_guard lock(mutex_);
  scheduled_ = false;
  if (closed_ || waiting_.empty() || Submit().ok()) return false;
  return true;
}

size_t ForwardQueue::BatchTokens() const {
  return runner_->info().residency == Residency::kStreamed ? kStreamedTokens : kResidentTokens;
}

ForwardQueue::Batch ForwardQueue::Take(size_t& room) {
  const bool streamed = runner_->info().residency == Residency::kStreamed;
  Batch batch;
  std::unique_lock lock(mutex_);
  while (true) {
    if (waiting_.empty() && streamed && !batch.empty()) {
      pushed_.wait_for(lock, kLinger, [this] { return closed_ || !waiting_.empty(); });
    }
    if (waiting_.empty()) return batch;
    if (!batch.empty() && waiting_.front().ids.size() > room) return batch;
    TakeFront(room, batch);
  }
}

void ForwardQueue::TakeFront(size_t& room, Batch& batch) {
  room -= std::min(room, waiting_.front().ids.size());
  batch.push_back({shared_from_this(), std::move(waiting_.front())});
  waiting_.pop_front();
  Count(-1);
}

void ForwardQueue::FillUp(size_t room, Batch& batch) {
  if (batch.empty() || !options_.group) return;
  for (const std::shared_ptr<ForwardQueue>& other : options_.group->OthersThan(*this)) {
    const bool waits_for_batch_work =
        device_->lane() == Lane::kInteractive && other->device_->lane() == Lane::kBatch;
    if (!waits_for_batch_work) other->TakeFitting(room, batch);
  }
}

void ForwardQueue::TakeFitting(size_t& room, Batch& batch) {
  // Its own job will say why.
  if (options_.stop.stop_requested() || options_.deadline <= Executor::Clock::now()) return;
  const std::lock_guard lock(mutex_);
  while (!waiting_.empty() && waiting_.front().ids.size() <= room) TakeFront(room, batch);
}

void ForwardQueue::Run(Batch batch) const {
  if (batch.empty()) return;
  std::vector<TokenIds> ids;
  size_t tokens = 0;
  for (auto& [queue, sample] : batch) {
    if (sample.begun) std::exchange(sample.begun, nullptr)();
    tokens += sample.ids.size();
    ids.push_back(sample.ids);
  }
  const SteadyClock::time_point begin = SteadyClock::now();
  absl::StatusOr<std::vector<Trace>> traces = absl::CancelledError();
  {
    const JointStop stop(batch);
    traces = Contained([&] { return runner_->Run(ids, options_.request, stop.token()); });
  }
  const std::chrono::duration<double> elapsed = SteadyClock::now() - begin;
  // The fault of one is not to be the answer of all; but a stop ends them all.
  if (!traces.ok() && !absl::IsCancelled(traces.status()) && batch.size() > 1) {
    for (Member& member : batch) {
      Batch alone;
      alone.push_back(std::move(member));
      Run(std::move(alone));
    }
    return;
  }
  for (size_t s = 0; s < batch.size(); ++s) {
    auto& [queue, sample] = batch[s];
    const std::chrono::duration<double> share =
        elapsed * static_cast<double>(ids[s].size()) / static_cast<double>(tokens);
    if (queue.get() != this) queue->device_->TakeOver(*device_, share.count());
    if (traces.ok()) {
      sample.done(std::move((*traces)[s]), share);
    } else {
      sample.done(traces.status(), share);
    }
  }
}

void ForwardQueue::Fail(const absl::Status& status) {
  std::deque<WaitingSample> failed;
  {
    const std::lock_guard lock(mutex_);
    failed = Empty();
  }
  for (WaitingSample& sample : failed) sample.done(status, {});
}

std::deque<WaitingSample> ForwardQueue::Empty() {
  Count(-static_cast<int64_t>(waiting_.size()));
  return std::exchange(waiting_, {});
}

void ForwardQueue::Close() {
  device_->Drop();
  // Destroyed outside the lock: what samples hold may come back here.
  std::deque<WaitingSample> dropped;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    dropped = Empty();
  }
  pushed_.notify_all();
}

}  // namespace sinkd
