#include "server/scheduler/executor.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include <absl/strings/str_cat.h>

#include "server/base/containment.h"
#include "server/base/status.h"

namespace sinkd {

struct ExecutorStream : FairOrder::Place, std::enable_shared_from_this<ExecutorStream> {
  struct Waiting {
    Executor::Job job;
    Executor::Clock::time_point since;
  };

  Account account;
  size_t slots = 0;
  bool open = true;
  int running = 0;
  std::deque<Waiting> jobs;
};

struct ExecutorCore {
  explicit ExecutorCore(Executor::Options given)
      : options(std::move(given)),
        beats(static_cast<size_t>(options.threads)),
        bound(absl::StrCat("places in the queue of ", options.name),
              CallersPart(static_cast<int64_t>(options.capacity), options.caller_percent)),
        most_threads_of_a_caller(options.threads > 1 && options.caller_percent < 100
                                     ? options.threads - 1
                                     : options.threads) {}

  struct Running {
    const ExecutorStream* stream;
    Executor::Clock::time_point since;
  };

  const Executor::Options options;
  std::vector<WorkBeat> beats;  // of each thread
  mutable std::mutex mutex;
  std::condition_variable changed;
  FairOrder order;
  CallerBound bound;
  std::set<std::shared_ptr<ExecutorStream>> waiting_streams;  // their jobs outlive a Stream
  std::list<Running> running;
  const int most_threads_of_a_caller;
  std::map<std::string, int, std::less<>> threads_of;  // callers who have any
  bool closed = false;
  bool drop_all = false;
  size_t reserved = 0;
  size_t waiting = 0;
  int64_t jobs_done = 0;
  double busy_seconds = 0;
  double mean_seconds = 0;  // of a job, recent ones weighing most

  struct Next {
    std::shared_ptr<ExecutorStream> stream;
    Executor::Job job;
    absl::Status admitted;
    double estimate = 0;  // seconds charged in advance, so that other threads see them
    std::list<Running>::iterator running;
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

  // The lock is held, here and in the next six.
  bool MayRun(const Account& account) const {
    const auto found = threads_of.find(account.caller);
    return found == threads_of.end() || found->second < most_threads_of_a_caller;
  }

  // After a change of what `account` may do.
  void Reconsider(const Account& account) {
    for (const std::shared_ptr<ExecutorStream>& stream : waiting_streams) {
      if (stream->account.caller == account.caller) order.SetWaiting(*stream, MayRun(account));
    }
    changed.notify_all();
  }

  void CountThread(const Account& account, int change) {
    if (most_threads_of_a_caller == options.threads) return;
    const bool could = MayRun(account);
    const auto found = threads_of.try_emplace(account.caller, 0).first;
    if ((found->second += change) == 0) threads_of.erase(found);
    if (MayRun(account) != could) Reconsider(account);
  }

  void NoteWaiting(const std::shared_ptr<ExecutorStream>& stream) {
    waiting_streams.insert(stream);
    order.SetWaiting(*stream, MayRun(stream->account));
  }

  void NoteIdle(const std::shared_ptr<ExecutorStream>& stream) {
    waiting_streams.erase(stream);
    order.SetWaiting(*stream, false);
  }

  void NoteTaken(size_t jobs) {
    waiting -= jobs;
    if (closed && waiting == 0) changed.notify_all();
  }

  void LeaveIfDone(ExecutorStream& stream) {
    const bool done = !stream.open && stream.jobs.empty() && stream.running == 0;
    if (done && stream.parent != nullptr) order.Leave(stream);
  }

  // The next job; nullopt when there will be none any more.
  std::optional<Next> Take() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return order.waiting() || (closed && waiting == 0); });
    if (!order.waiting()) return std::nullopt;
    auto& chosen = static_cast<ExecutorStream&>(*order.Next());
    Next next{.stream = chosen.shared_from_this(), .job = std::move(chosen.jobs.front().job)};
    chosen.jobs.pop_front();
    NoteTaken(1);
    if (chosen.jobs.empty()) NoteIdle(next.stream);
    CountThread(chosen.account, 1);
    next.admitted = Admit(next.job, chosen);
    ++chosen.running;
    if (next.admitted.ok()) next.estimate = mean_seconds;
    FairOrder::Charge(chosen, next.estimate);
    next.running = running.insert(running.end(), {&chosen, options.now()});
    return next;
  }

  void Finish(Next next) {
    const std::lock_guard lock(mutex);
    const double seconds =
        std::chrono::duration<double>(options.now() - next.running->since).count();
    running.erase(next.running);
    CountThread(next.stream->account, -1);
    FairOrder::Charge(*next.stream, seconds - next.estimate);
    --next.stream->running;
    LeaveIfDone(*next.stream);
    if (!next.admitted.ok()) return;
    constexpr double kNewest = 0.2;
    mean_seconds = mean_seconds == 0 ? seconds : mean_seconds + kNewest * (seconds - mean_seconds);
    busy_seconds += seconds;
    ++jobs_done;
  }

  void Run(const Next& next) const {
    const absl::Status done = Contained([&next] {
      next.job.run(next.admitted);
      return absl::OkStatus();
    });
    if (!done.ok()) options.on_exception(done);
  }

  void Work(WorkBeat& beat) {
    while (std::optional<Next> next = Take()) {
      const WorkBeat::Job beating(beat);
      Run(*next);
      next->job.run = nullptr;  // what it holds may come back here
      Finish(*std::move(next));
    }
  }

  ExecutorSnapshot Snapshot() const {
    const std::lock_guard lock(mutex);
    const Executor::Clock::time_point now = options.now();
    const auto since = [now](Executor::Clock::time_point then) {
      return std::chrono::duration<double>(now - then).count();
    };
    ExecutorSnapshot snapshot{.name = options.name,
                              .capacity = static_cast<int64_t>(options.capacity),
                              .reserved = static_cast<int64_t>(reserved),
                              .jobs_done = jobs_done,
                              .busy_seconds = busy_seconds,
                              .callers = order.callers()};
    for (const WorkBeat& beat : beats) snapshot.beats.push_back(beat.Now());
    for (const Running& job : running) {
      snapshot.running.push_back({job.stream->account, since(job.since)});
      snapshot.busy_seconds += snapshot.running.back().seconds;
    }
    for (const std::shared_ptr<ExecutorStream>& stream : waiting_streams) {
      snapshot.longest_wait_seconds =
          std::max(snapshot.longest_wait_seconds, since(stream->jobs.front().since));
    }
    return snapshot;
  }
};

Executor::Stream::Stream(std::shared_ptr<ExecutorCore> core, std::shared_ptr<ExecutorStream> state)
    : core_(std::move(core)), state_(std::move(state)) {}

Executor::Stream::~Stream() {
  const std::lock_guard lock(core_->mutex);
  state_->open = false;
  core_->reserved -= state_->slots;
  core_->bound.Give(state_->account.caller, static_cast<int64_t>(state_->slots));
  core_->LeaveIfDone(*state_);
}

Lane Executor::Stream::lane() const {
  return state_->account.lane;
}

void Executor::Stream::TakeOver(Stream& from, double seconds) {
  const std::lock_guard lock(core_->mutex);
  if (state_->parent == nullptr || from.state_->parent == nullptr) return;
  FairOrder::Charge(*from.state_, -seconds);
  FairOrder::Charge(*state_, seconds);
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
    state_->jobs.push_back({std::move(job), core_->options.now()});
    if (state_->jobs.size() == 1) core_->NoteWaiting(state_);
    ++core_->waiting;
  }
  core_->changed.notify_one();
  return absl::OkStatus();
}

void Executor::Stream::Drop() {
  // Destroyed outside the lock: what they hold may come back here.
  std::deque<ExecutorStream::Waiting> dropped;
  const std::lock_guard lock(core_->mutex);
  state_->open = false;
  if (!state_->jobs.empty()) {
    dropped.swap(state_->jobs);
    core_->NoteTaken(dropped.size());
    core_->NoteIdle(state_);
  }
  core_->LeaveIfDone(*state_);
}

Executor::Executor(Options options) : core_(std::make_shared<ExecutorCore>(std::move(options))) {
  for (int i = 0; i < core_->options.threads; ++i) {
    threads_.emplace_back([core = core_, i] { core->Work(core->beats[static_cast<size_t>(i)]); });
  }
}

Executor::~Executor() {
  Shutdown(ShutdownMode::kCancel);
}

absl::StatusOr<std::unique_ptr<Executor::Stream>> Executor::OpenStream(size_t slots,
                                                                       const Account& account) {
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
  SINKD_RETURN_IF_ERROR(core_->bound.Check(account.caller));
  core_->reserved += slots;
  core_->bound.Take(account.caller, static_cast<int64_t>(slots));
  auto state = std::make_shared<ExecutorStream>();
  state->slots = slots;
  state->account = account;
  core_->order.Enter(*state, account);
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

ExecutorSnapshot Executor::Snapshot() const {
  return core_->Snapshot();
}

}  // namespace sinkd
