// DeadlineOf: the deadline of a call on the steady clock, so that a change of the wall clock
// neither ends a call nor prolongs it.
#pragma once

#include <chrono>

#include <grpcpp/server_context.h>

#include "server/scheduler/executor.h"

namespace sinkd {

// Call it once, when the call begins. Executor::Clock::time_point::max() without a deadline.
Executor::Clock::time_point DeadlineOf(std::chrono::system_clock::time_point deadline);
inline Executor::Clock::time_point DeadlineOf(const grpc::CallbackServerContext& context) {
  return DeadlineOf(context.deadline());
}

}  // namespace sinkd
