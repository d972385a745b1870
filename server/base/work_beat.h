// WorkBeat: the heartbeat of a thread that runs one job after the other, for a watchdog.
//
// The runner of the jobs wraps each in a WorkBeat::Job, and the job calls Beat() after each step. A
// thread is stuck if it works and its count is the same in two calls of Now.
// Thread-safety: Now may be called from any thread, everything else only from the thread that
// works.
#pragma once

#include <atomic>
#include <cstdint>

namespace sinkd {

class WorkBeat {
 public:
  struct State {
    bool working = false;
    int64_t beats = 0;  // never decreases
    bool operator==(const State&) const = default;
  };

  // During its lifetime, this thread works, and Beat() counts here.
  class Job {
   public:
    explicit Job(WorkBeat& beat);
    ~Job();
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

   private:
    WorkBeat& beat_;
    WorkBeat* const outer_;
  };

  // During its lifetime, Beat() on this thread counts for the job of a thread that waits for this
  // thread; null: for no job.
  class Helper {
   public:
    explicit Helper(WorkBeat* beat);
    ~Helper();
    Helper(const Helper&) = delete;
    Helper& operator=(const Helper&) = delete;

   private:
    WorkBeat* const outer_;
  };

  // The WorkBeat whose job this thread runs; null if it runs none.
  static WorkBeat* OfThisThread();

  State Now() const { return {working_.load(), beats_.load()}; }

 private:
  friend void Beat();
  std::atomic<bool> working_ = false;
  std::atomic<int64_t> beats_ = 0;
};

// Counts a step of the job that this thread runs; does nothing without a job.
void Beat();

}  // namespace sinkd
