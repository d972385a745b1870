// Work with torch on a thread that runs no passes. OpenMP keeps a team of threads for each thread
// that ever used it. Once all teams together are more threads than there are cores, those of a pass
// no longer spin for microseconds where they wait for each other but sleep at once.
//
// Thread-safety: may be called from any thread.
#pragma once

#include <future>

#include "server/base/work_beat.h"

namespace sinkd {

// Runs `work` on a thread whose team ends with it, for the job of this thread, which waits for it.
// Throws what `work` throws.
template <typename Work>
auto OnOwnThread(const Work& work) {
  const auto run = [beat = WorkBeat::OfThisThread(), &work] {
    const WorkBeat::Helper helper(beat);
    return work();
  };
  return std::async(std::launch::async, run).get();
}

}  // namespace sinkd
