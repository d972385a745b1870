// Executor: runs jobs of many streams on a fixed set of threads. A device has one executor with one
// thread. Whose job is next says FairOrder, by the time that lanes, callers and streams have used,
// so that no stream starves another and a person's request overtakes a long job.
//
// Admission: a stream reserves its slots when it is opened, and is refused when the executor has
// too few left, or its caller holds too many of them (CallerBound); once open, a stream that keeps
// within its slots is never turned away. Where callers are bounded and there are several threads,
// one always stays for the others: a caller's jobs wait while he has all threads but one.
// A job whose stop token is set, whose deadline has passed or whose stream is gone is dropped
// before it runs.
//
// Ownership: a Stream may outlive its Executor and then refuses work.
// Thread-safety: all methods may be called from any thread, jobs included, but for Shutdown and the
// destructor, which a job must not call.
// Errors: RESOURCE_EXHAUSTED with retry_after (full); UNAVAILABLE with retry_after (shut down).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "server/base/work_beat.h"
#include "server/scheduler/caller_bound.h"
#include "server/scheduler/fair_order.h"

namespace sinkd {

struct ExecutorCore;    // state shared by an executor and its streams
struct ExecutorStream;  // one stream's waiting jobs

// What an executor is doing.
struct ExecutorSnapshot {
  struct Running {
    Account account;
    double seconds = 0;  // since the job began
  };
  std::string name;
  int64_t capacity = 0;             // slots
  int64_t reserved = 0;             // of them
  int64_t jobs_done = 0;            // since it was made
  double busy_seconds = 0;          // of all threads, jobs that run included
  double longest_wait_seconds = 0;  // of a job that waits now
  std::vector<Running> running;
  std::vector<WorkBeat::State> beats;  // of each thread
  std::vector<FairOrder::Caller> callers;
};

class Executor {
 public:
  using Clock = std::chrono::steady_clock;

  struct Options {
    std::string name = "executor";          // in error messages
    std::string when_full = "retry later";  // the way out that QUEUE_FULL names
    int threads = 1;
    size_t capacity = 256;  // slots over all streams
    int64_t caller_percent =
        100;  // of the slots, from which on a caller gets no more; 100: no bound
    // A job threw, which ends that job alone.
    std::function<void(const absl::Status& error)> on_exception = [](const absl::Status&) {};
    std::function<Clock::time_point()> now = Clock::now;
  };

  struct Job {
    // Called exactly once, on a thread of the executor, unless Stream::Drop took it back. OK: do
    // the work now. Otherwise the job was dropped: CANCELLED, DEADLINE_EXCEEDED, or UNAVAILABLE
    // when the executor was shut down.
    std::function<void(const absl::Status& admitted)> run;
    std::stop_token stop;
    Clock::time_point deadline = Clock::time_point::max();
  };

  enum class ShutdownMode { kDrain, kCancel };  // run what waits, or drop it

  // One client's place among the others. Destroying it drops what still waits.
  class Stream {
   public:
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    // RESOURCE_EXHAUSTED when all slots of the stream hold waiting jobs. On error `job` is not
    // called.
    absl::Status Submit(Job job);

    // Destroys what waits without calling it and refuses what comes with CANCELLED: for an owner
    // who wants no more answers, so that nothing of his waits for its turn among longer jobs.
    void Drop();

    // Moves `seconds` of the running job's time onto this stream's account, when it ran something
    // of this stream's too. `from` is the stream whose job runs.
    void TakeOver(Stream& from, double seconds);

    Lane lane() const;

   private:
    friend class Executor;
    Stream(std::shared_ptr<ExecutorCore> core, std::shared_ptr<ExecutorStream> state);
    std::shared_ptr<ExecutorCore> core_;
    std::shared_ptr<ExecutorStream> state_;
  };

  explicit Executor(Options options);
  ~Executor();  // Shutdown(kCancel)
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  absl::StatusOr<std::unique_ptr<Stream>> OpenStream(size_t slots, const Account& account = {});

  // Takes no more work, ends what waits as `mode` says, and returns when all threads are gone. A
  // running job is waited for; whoever wants it shorter sets its stop token first. Repeated calls
  // do nothing.
  void Shutdown(ShutdownMode mode);

  size_t waiting() const;  // jobs submitted and not begun
  ExecutorSnapshot Snapshot() const;

 private:
  std::shared_ptr<ExecutorCore> core_;
  std::vector<std::thread> threads_;
};

}  // namespace sinkd
