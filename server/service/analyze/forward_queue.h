// ForwardQueue: the encoded samples of one stream that wait for the model. What waits runs
// together, and with what waits in other streams for the same model: short samples share one pass
// of the weights through the processor, and a model whose weights are streamed from disk reads them
// once for all. A person's samples are never made to wait for batch work in the same pass. Each
// stream pays for its own tokens of a pass.
//
// A sample's numbers do not depend on which samples it ran with, nor does its fate: when a batch
// fails, by memory or otherwise, its samples run one by one.
//
// At most one job of the executor's stream is outstanding; it runs one batch and, when more waits,
// queues up again behind the other streams.
// Ownership: owns the samples that wait. Thread-safety: all methods may be called from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "server/engine/model.h"
#include "server/engine/trace.h"
#include "server/scheduler/executor.h"
#include "server/service/analyze/forward_group.h"
#include "server/service/models/model_catalog.h"

namespace sinkd {

struct WaitingSample {
  TokenIds ids;
  std::function<void()> begun;  // called before the pass
  // Called once, unless the queue was closed first. `compute`: the sample's share of its batch's
  // time, by tokens.
  std::function<void(absl::StatusOr<Trace> trace, std::chrono::duration<double> compute)> done;
};

class ForwardQueue : public std::enable_shared_from_this<ForwardQueue> {
 public:
  struct Options {
    std::shared_ptr<ForwardGroup> group;  // whose samples may run with these; null: nobody's
    TraceRequest request;
    std::stop_token stop;
    Executor::Clock::time_point deadline = Executor::Clock::time_point::max();
    std::function<void(int64_t change)> on_depth;  // of the number of waiting samples; may be empty
  };

  // Close it before the last pointer is gone.
  static std::shared_ptr<ForwardQueue> Open(std::shared_ptr<const SampleRunner> runner,
                                            std::unique_ptr<Executor::Stream> device,
                                            Options options);
  ForwardQueue(const ForwardQueue&) = delete;
  ForwardQueue& operator=(const ForwardQueue&) = delete;

  // After Close `sample` is destroyed.
  void Push(WaitingSample sample);

  // Destroys what waits without calling it, and what comes later.
  void Close();

 private:
  // One sample of a batch and whose it is.
  struct Member {
    std::shared_ptr<ForwardQueue> queue;
    WaitingSample sample;
  };
  using Batch = std::vector<Member>;
  class JointStop;

  ForwardQueue(std::shared_ptr<const SampleRunner> runner, std::unique_ptr<Executor::Stream> device,
               Options options);

  absl::Status Submit();  // under the lock
  void Work(const absl::Status& admitted);
  bool MustGoOn();
  // `room`: tokens that the batch may take yet.
  Batch Take(size_t& room);
  void TakeFront(size_t& room, Batch& batch);  // under the lock
  void FillUp(size_t room, Batch& batch);
  void TakeFitting(size_t& room, Batch& batch);
  size_t BatchTokens() const;
  void Run(Batch batch) const;
  void Fail(const absl::Status& status);
  std::deque<WaitingSample> Empty();  // under the lock
  void Count(int64_t change) const;

  const std::shared_ptr<const SampleRunner> runner_;
  const std::unique_ptr<Executor::Stream> device_;
  const Options options_;
  std::mutex mutex_;
  std::condition_variable pushed_;
  std::deque<WaitingSample> waiting_;
  bool scheduled_ = false;  // a job is outstanding
  bool closed_ = false;
};

}  // namespace sinkd
