#include "server/scheduler/executor.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include <absl/strings/str_cat.h>

#include "server/base/status.h"

namespace sinkd {

struct ExecutorStream {
  size_t slots = 0;
  bool open = true;
  std::deque<Executor::Job> jobs;
};

struct ExecutorCore {
  explicit ExecutorCore(Executor::Options given) : options(std::move(given)) {}

  const Executor::Options options;
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<ExecutorStream>> ready;  // streams with waiting jobs, next first
  bool closed = false;
  bool drop_all = false;
  size_t reserved = 0;
  size_t waiting = 0;
  double mean_seconds = 0;  // of a job, recent ones weighing most

  struct Next {
    Executor::Job job;
    absl::Status admitted;
  };

  // How long until the waiting jobs are done, roughly. The lock is held.
  std::chrono::milliseconds RetryAfter() const {
    constexpr double kLeastSeconds = 1;
    constexpr double kMostSeconds = 60;
    const double seconds =
        static_cast<double>(waiting) * mean_seconds / static_cast<double>(options.threads);
    return std::chrono::milliseconds(
        static_cast<int64_t>(1000 * std::clamp(seconds, kLeastSeconds, kMostSeconds)));
  }

  absl::Status ShutDownError() const {
    return Unavailable(absl::StrCat(options.name, " is shutting down"),
                       {.reason = "SHUTTING_DOWN",
                        .subject = options.name,
                        .fix = "retry; another server, or this one after its restart, will answer",
                        .retry_after = std::chrono::milliseconds(1000)});
  }

  absl::Status Admit(const Executor::Job& job, const ExecutorStream& stream) const {
    if (job.stop.stop_requested() || !stream.open) {
      return Cancelled("the stream ended before this work began");
    }
    if (job.deadline <= options.now()) {
      return MakeError(absl::StatusCode::kDeadlineExceeded,
                       "the deadline passed before this work began",
                       {.reason = "DEADLINE_EXCEEDED", .fix = "set a later deadline"});
    }
    return drop_all ? ShutDownError() : absl::OkStatus();
  }

  // The next job, the streams taking turns; nullopt when there will be none any more.
  std::optional<Next> Take() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return closed || !ready.empty(); });
    if (ready.empty()) return std::nullopt;
    std::shared_ptr<ExecutorStream> stream = std::move(ready.front());
    ready.pop_front();
    Executor::Job job = std::move(stream->jobs.front());
    stream->jobs.pop_front();
    absl::Status admitted = Admit(job, *stream);
    if (!stream->jobs.empty()) ready.push_back(std::move(stream));
    --waiting;
    return Next{std::move(job), std::move(admitted)};
  }

  void NoteDuration(double seconds) {
    constexpr double kNewest = 0.2;
    const std::lock_guard lock(mutex);
    mean_seconds = mean_seconds == 0 ? seconds : mean_seconds + kNewest * (seconds - mean_seconds);
  }

  void Work() {
    while (std::optional<Next> next = Take()) {
      const bool runs = next->admitted.ok();
      const Executor::Clock::time_point begin = options.now();
      next->job.run(next->admitted);
      if (runs) NoteDuration(std::chrono::duration<double>(options.now() - begin).count());
    }
  }
};

Executor::Stream::Stream(std::shared_ptr<ExecutorCore> core, std::shared_ptr<ExecutorStream> state)
    : core_(std::move(core)), state_(std::move(state)) {}

Executor::Stream::~Stream() {
  const std::lock_guard lock(core_->mutex);
  state_->open = false;
  core_->reserved -= state_->slots;
}

absl::Status Executor::Stream::Submit(Job job) {
  {
    const std::lock_guard lock(core_->mutex);
    if (core_->closed) return core_->ShutDownError();
    if (!state_->open) return Cancelled("the stream ended before this work began");
    if (state_->jobs.size() >= state_->slots) {
      return ResourceExhausted("too much work of this stream is waiting",
                               {.reason = "STREAM_QUEUE_FULL",
                                .subject = core_->options.name,
                                .value = absl::StrCat(state_->slots),
                                .fix = "wait for answers before sending more",
                                .retry_after = core_->RetryAfter()});
    }
    if (state_->jobs.empty()) core_->ready.push_back(state_);
    state_->jobs.push_back(std::move(job));
    ++core_->waiting;
  }
  core_->changed.notify_one();
  return absl::OkStatus();
}

void Executor::Stream::Drop() {
  std::deque<Job> dropped;  // destroyed outside the lock: what they hold may come back here
  const std::lock_guard lock(core_->mutex);
  state_->open = false;
  if (state_->jobs.empty()) return;
  dropped.swap(state_->jobs);
  std::erase(core_->ready, state_);
  core_->waiting -= dropped.size();
}

Executor::Executor(Options options) : core_(std::make_shared<ExecutorCore>(std::move(options))) {
  for (int i = 0; i < core_->options.threads; ++i) {
    threads_.emplace_back([core = core_] { core->Work(); });
  }
}

Executor::~Executor() {
  Shutdown(ShutdownMode::kCancel);
}

absl::StatusOr<std::unique_ptr<Executor::Stream>> Executor::OpenStream(size_t slots) {
  const std::lock_guard lock(core_->mutex);
  if (core_->closed) return core_->ShutDownError();
  if (core_->reserved + slots > core_->options.capacity) {
    return ResourceExhausted(
        absl::StrCat("the queue of ", core_->options.name, " is full: ", core_->reserved, " of ",
                     core_->options.capacity, " places are taken, a stream needs ", slots),
        {.reason = "QUEUE_FULL",
         .subject = core_->options.name,
         .fix = core_->options.when_full,
         .retry_after = core_->RetryAfter()});
  }
  core_->reserved += slots;
  auto state = std::make_shared<ExecutorStream>();
  state->slots = slots;
  return std::unique_ptr<Stream>(new Stream(core_, std::move(state)));
}

void Executor::Shutdown(ShutdownMode mode) {
  {
    const std::lock_guard lock(core_->mutex);
    core_->closed = true;
    core_->drop_all |= mode == ShutdownMode::kCancel;
  }
  core_->changed.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

size_t Executor::waiting() const {
  const std::lock_guard lock(core_->mutex);
  return core_->waiting;
}

}  // namespace sinkd
