#include "server/service/forward_queue.h"

#include <iterator>
#include <utility>

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
    Run(Take());
  } while (MustGoOn());
}

// An executor that drains takes no new job, and what waits here is part of the one it runs.
bool ForwardQueue::MustGoOn() {
  const std::lock_guard lock(mutex_);
  scheduled_ = false;
  if (closed_ || waiting_.empty() || Submit().ok()) return false;
  return true;
}

ForwardQueue::Batch ForwardQueue::Take() {
  const bool streamed = runner_->info().residency == Residency::kStreamed;
  const size_t limit = streamed ? kStreamedTokens : kResidentTokens;
  Batch batch;
  size_t tokens = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    if (waiting_.empty() && streamed && !batch.empty()) {
      pushed_.wait_for(lock, kLinger, [this] { return closed_ || !waiting_.empty(); });
    }
    if (waiting_.empty()) return batch;
    const size_t length = waiting_.front().ids.size();
    if (!batch.empty() && tokens + length > limit) return batch;
    tokens += length;
    batch.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
    Count(-1);
  }
}

void ForwardQueue::Run(Batch batch) const {
  if (batch.empty()) return;
  std::vector<TokenIds> ids;
  size_t tokens = 0;
  for (WaitingSample& sample : batch) {
    if (sample.begun) std::exchange(sample.begun, nullptr)();
    tokens += sample.ids.size();
    ids.push_back(sample.ids);
  }
  const SteadyClock::time_point begin = SteadyClock::now();
  absl::StatusOr<std::vector<Trace>> traces = runner_->Run(ids, options_.request, options_.stop);
  const std::chrono::duration<double> elapsed = SteadyClock::now() - begin;
  // The fault of one is not to be the answer of all; but a stop ends them all.
  if (!traces.ok() && !absl::IsCancelled(traces.status()) && batch.size() > 1) {
    for (WaitingSample& sample : batch) {
      Batch alone;
      alone.push_back(std::move(sample));
      Run(std::move(alone));
    }
    return;
  }
  for (size_t s = 0; s < batch.size(); ++s) {
    const std::chrono::duration<double> share =
        elapsed * static_cast<double>(ids[s].size()) / static_cast<double>(tokens);
    if (traces.ok()) {
      batch[s].done(std::move((*traces)[s]), share);
    } else {
      batch[s].done(traces.status(), share);
    }
  }
}

void ForwardQueue::Fail(const absl::Status& status) {
  Batch failed;
  {
    const std::lock_guard lock(mutex_);
    failed = Empty();
  }
  for (WaitingSample& sample : failed) sample.done(status, {});
}

ForwardQueue::Batch ForwardQueue::Empty() {
  Count(-static_cast<int64_t>(waiting_.size()));
  Batch all(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(waiting_.end()));
  waiting_.clear();
  return all;
}

void ForwardQueue::Close() {
  device_->Drop();
  Batch dropped;  // destroyed outside the lock: what samples hold may come back here
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    dropped = Empty();
  }
  pushed_.notify_all();
}

}  // namespace sinkd
