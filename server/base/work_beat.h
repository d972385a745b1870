// WorkBeat: whether a thread that runs one job after the other goes on, for a watchdog to see.
//
// Whoever runs the jobs brackets each with a WorkBeat::Job; the job itself calls Beat() wherever it
// has got a step further. Between two looks at Now, a thread that works and whose count stands
// still has made no progress. Thread-safety: Now may be called from any thread, the rest belongs to
// the thread that works.
#pragma once

#include <atomic>
#include <cstdint>

namespace sinkd {

class WorkBeat {
 public:
  struct State {
    bool working = false;
    int64_t beats = 0;  // only ever grows
    bool operator==(const State&) const = default;
  };

  // While it lives, this thread works, and Beat() counts here.
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

  // While it lives, Beat() of this thread counts for the job of a thread that waits for this one;
  // null: for none.
  class Helper {
   public:
    explicit Helper(WorkBeat* beat);
    ~Helper();
    Helper(const Helper&) = delete;
    Helper& operator=(const Helper&) = delete;

   private:
    WorkBeat* const outer_;
  };

  // Whose job this thread runs; null where it runs none.
  static WorkBeat* OfThisThread();

  State Now() const { return {working_.load(), beats_.load()}; }

 private:
  friend void Beat();
  std::atomic<bool> working_ = false;
  std::atomic<int64_t> beats_ = 0;
};

// A step further, in the job that this thread runs; nothing where it runs none.
void Beat();

}  // namespace sinkd
