#include "client/call.h"

#include <algorithm>
#include <thread>

#include "client/error_report.h"

namespace sinkd::client {
namespace {

using std::chrono::milliseconds;

// Waits in slices, so that a cancellation does not have to sit out a long RetryInfo.
void Wait(milliseconds duration, const Cancellation* cancellation) {
  constexpr milliseconds kSlice{50};
  while (duration.count() > 0 && !(cancellation && cancellation->cancelled())) {
    std::this_thread::sleep_for(std::min(duration, kSlice));
    duration -= kSlice;
  }
}

bool FitsBefore(const CallOptions& options, milliseconds wait) {
  return !options.deadline || std::chrono::system_clock::now() + wait < *options.deadline;
}

}  // namespace

void Cancellation::Cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  if (call_ != nullptr) call_->TryCancel();
}

bool Cancellation::cancelled() const {
  const std::lock_guard lock(mutex_);
  return cancelled_;
}

ScopedCall::ScopedCall(const CallOptions& options)
    : cancellation_(options.cancellation), peer_(options.peer) {
  if (options.deadline) context_.set_deadline(*options.deadline);
  if (!options.request_id.empty()) context_.AddMetadata(kRequestIdKey, options.request_id);
  if (cancellation_ == nullptr) return;
  const std::lock_guard lock(cancellation_->mutex_);
  cancellation_->call_ = &context_;
  if (cancellation_->cancelled_) context_.TryCancel();
}

ScopedCall::~ScopedCall() {
  if (peer_ != nullptr) *peer_ = context_.peer();
  if (cancellation_ == nullptr) return;
  const std::lock_guard lock(cancellation_->mutex_);
  cancellation_->call_ = nullptr;
}

absl::Status CallWithRetry(const RetryPolicy& policy, const CallOptions& options,
                           const std::function<grpc::Status(grpc::ClientContext*)>& attempt) {
  milliseconds next_wait = policy.first_wait;
  const auto begin = std::chrono::steady_clock::now();
  for (int call = 1;; ++call) {
    absl::Status status;
    {
      ScopedCall scope(options);
      status = FromGrpcStatus(attempt(scope.context()));
    }
    const bool cancelled = options.cancellation && options.cancellation->cancelled();
    const bool enough =
        call >= policy.attempts && std::chrono::steady_clock::now() - begin >= policy.at_least;
    if (!absl::IsUnavailable(status) || enough || cancelled) return status;
    const milliseconds wait =
        std::max(next_wait, ReadErrorReport(status).retry_after.value_or(milliseconds(0)));
    if (!FitsBefore(options, wait)) return status;
    if (policy.wait) {
      policy.wait(wait);
    } else {
      Wait(wait, options.cancellation);
    }
    const auto grown =
        std::chrono::duration_cast<milliseconds>(next_wait * std::max(1.0, policy.growth));
    next_wait = std::min(policy.longest_wait, grown);
  }
}

}  // namespace sinkd::client
