// ForwardGroup: the queues whose samples may run in one pass - of the same model, with the same
// trace request. What a queue's turn leaves of a batch is filled from the others.
//
// Ownership: borrows the queues weakly. Thread-safety: all methods may be called from any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "server/engine/model.h"
#include "server/engine/trace.h"

namespace sinkd {

class ForwardQueue;

class ForwardGroup {
 public:
  void Join(std::weak_ptr<ForwardQueue> queue);

  // All but `self`, another one first at every call.
  std::vector<std::shared_ptr<ForwardQueue>> OthersThan(const ForwardQueue& self);

 private:
  std::mutex mutex_;
  std::vector<std::weak_ptr<ForwardQueue>> queues_;
};

// The groups of a server.
class ForwardGroups {
 public:
  // `model` tells loaded models apart by its address.
  std::shared_ptr<ForwardGroup> For(const ModelInfo& model, const TraceRequest& request);

 private:
  struct Line {
    const ModelInfo* model;
    TraceRequest request;
    std::weak_ptr<ForwardGroup> group;
  };
  std::mutex mutex_;
  std::vector<Line> lines_;
};

}  // namespace sinkd
