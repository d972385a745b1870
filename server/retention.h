// Retention: removes runs that are not to be kept, at once and then every hour, on a thread of its
// own. What goes wrong is logged, and tried again the next time.
//
// Thread-safety: made and destroyed by one thread; the destructor waits for a removal under way.
#pragma once

#include <stop_token>
#include <thread>

#include "server/store/run_store.h"

namespace sinkd {

class Retention {
 public:
  // `store` is borrowed. A policy that keeps everything starts no thread.
  Retention(RunStore& store, const PrunePolicy& policy);

 private:
  void Run(const std::stop_token& stop);

  RunStore& store_;
  const PrunePolicy policy_;
  std::jthread thread_;
};

}  // namespace sinkd
