// Runs torch work that is not a pass on a temporary thread. OpenMP keeps a team of threads for each
// thread that ever used it. Once the teams together have more threads than there are cores, the
// threads of a pass sleep immediately when they wait for each other, instead of spinning briefly.
//
// Thread-safety: may be called from any thread.
#pragma once

#include <future>

#include "server/base/work_beat.h"

namespace sinkd {

// Runs `work` on a thread that ends with its team, as part of this thread's job, and waits for it.
// Rethrows exceptions of `work`.
template <typename Work>
auto OnOwnThread(const Work& work) {
  const auto run = [beat = WorkBeat::OfThisThread(), &work] {
    const WorkBeat::Helper helper(beat);
    return work();
  };
  return std::async(std::launch::async, run).get();
}

}  // namespace sinkd
