// Executor: runs the jobs of many streams on a fixed number of threads. A device has one executor
// with one thread. FairOrder chooses the next job by the time that lanes, callers and streams have
// used, so that no stream starves another and interactive requests overtake long jobs.
//
// Admission: a stream reserves its slots when it is opened. It is refused if the executor has too
// few left or its caller holds too many (CallerBound). An open stream that stays within its slots
// is never refused. If callers are limited and there are several threads, no caller uses all of
// them: its jobs wait while it occupies all threads but one.
// A job is dropped before it runs if its stop token is set, its deadline has passed or its stream
// is gone.
//
// Ownership: a Stream may outlive its Executor and then refuses work.
// Thread-safety: all methods may be called from any thread, including from jobs, except that a job
// must not call Shutdown or the destructor.
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

// The state of an executor.
struct ExecutorSnapshot {
  struct Running {
    Account account;
    double seconds = 0;  // since the job began
  };
  std::string name;
  int64_t capacity = 0;             // slots
  int64_t reserved = 0;             // slots in use
  int64_t jobs_done = 0;            // since the start
  double busy_seconds = 0;          // of all threads, including running jobs
  double longest_wait_seconds = 0;  // of the jobs that wait now
  std::vector<Running> running;
  std::vector<WorkBeat::State> beats;  // of each thread
  std::vector<FairOrder::Caller> callers;
};

class Executor {
 public:
  using Clock = std::chrono::steady_clock;

  struct Options {
    std::string name = "executor";          // in error messages
    std::string when_full = "retry later";  // the fix in QUEUE_FULL errors
    int threads = 1;
    size_t capacity = 256;         // slots of all streams together
    int64_t caller_percent = 100;  // limit of a caller, in percent of the slots; 100: none
    // Called after a job threw an exception; only that job ends.
    std::function<void(const absl::Status& error)> on_exception = [](const absl::Status&) {};
    std::function<Clock::time_point()> now = Clock::now;
  };

  struct Job {
    // Called exactly once, on a thread of the executor, unless Stream::Drop removed it. OK: do the
    // work now. Otherwise the job was dropped: CANCELLED, DEADLINE_EXCEEDED, or UNAVAILABLE if the
    // executor was shut down.
    std::function<void(const absl::Status& admitted)> run;
    std::stop_token stop;
    Clock::time_point deadline = Clock::time_point::max();
  };

  enum class ShutdownMode { kDrain, kCancel };  // run the waiting jobs, or drop them

  // One client's share of the executor. Destroying it drops its waiting jobs.
  class Stream {
   public:
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    // RESOURCE_EXHAUSTED if all slots of the stream hold waiting jobs. After an error `job` is not
    // called.
    absl::Status Submit(Job job);

    // Destroys the waiting jobs without calling them, and refuses new ones with CANCELLED. For an
    // owner that needs no more results, so that its jobs do not wait behind longer ones.
    void Drop();

    // Charges `seconds` of the running job's time to this stream, because the job included work of
    // this stream too. `from` is the stream whose job runs.
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

  // Accepts no more work, runs or drops the waiting jobs, and returns when all threads have ended.
  // Waits for running jobs; to shorten that, set their stop tokens first. Repeated calls do
  // nothing.
  void Shutdown(ShutdownMode mode);

  size_t waiting() const;  // jobs submitted but not begun
  ExecutorSnapshot Snapshot() const;

 private:
  std::shared_ptr<ExecutorCore> core_;
  std::vector<std::thread> threads_;
};

}  // namespace sinkd
