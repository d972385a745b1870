// DeadlineOf: when a call's time is up, on the clock that nobody sets, so that a jump of the wall
// clock neither ends a call nor prolongs it.
#pragma once

#include <chrono>

#include <grpcpp/server_context.h>

#include "server/scheduler/executor.h"

namespace sinkd {

// To be asked once, when the call begins. Executor::Clock::time_point::max() where it has none.
Executor::Clock::time_point DeadlineOf(std::chrono::system_clock::time_point deadline);
inline Executor::Clock::time_point DeadlineOf(const grpc::CallbackServerContext& context) {
  return DeadlineOf(context.deadline());
}

}  // namespace sinkd
