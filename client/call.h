// What every call shares: deadline, request id, cancellation and the retry policy.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include <absl/status/status.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/status.h>

namespace sinkd::client {

// Metadata key that carries CallOptions::request_id to the server's log.
inline constexpr char kRequestIdKey[] = "x-request-id";

// Cancels calls from another thread. One token may serve many calls, one after the other.
// Thread-safety: all methods may be called from any thread (not from a signal handler).
class Cancellation {
 public:
  // Cancels the running call, if any, and every later one that is given this token.
  void Cancel();
  bool cancelled() const;

 private:
  friend class ScopedCall;
  mutable std::mutex mutex_;
  bool cancelled_ = false;               // guarded by mutex_
  grpc::ClientContext* call_ = nullptr;  // guarded by mutex_; owned by the ScopedCall
};

struct CallOptions {
  // No call lasts longer; absent: no limit.
  std::optional<std::chrono::system_clock::time_point> deadline;
  // Sent as metadata, shows in the server's log; empty: the server makes one up.
  std::string request_id;
  // Where the address of the server that took the call goes; null: nowhere. Not owned.
  std::string* peer = nullptr;
  // Not owned, must outlive the call; null: the call cannot be cancelled.
  Cancellation* cancellation = nullptr;
};

// The context of one call, made from the options; detaches from the token at its end.
// Thread-safety: belongs to the calling thread.
class ScopedCall {
 public:
  explicit ScopedCall(const CallOptions& options);
  ~ScopedCall();
  ScopedCall(const ScopedCall&) = delete;
  ScopedCall& operator=(const ScopedCall&) = delete;

  grpc::ClientContext* context() { return &context_; }

 private:
  grpc::ClientContext context_;
  Cancellation* cancellation_;
  std::string* peer_;
};

// How unary calls that fail with UNAVAILABLE are repeated. A RetryInfo of the server that asks for
// a longer wait is obeyed.
struct RetryPolicy {
  int attempts = 3;  // calls in all, at least 1
  std::chrono::milliseconds first_wait{100};
  double growth = 2.0;  // each wait over the one before
  std::chrono::milliseconds longest_wait{2000};
  // Replaces the real wait; for tests.
  std::function<void(std::chrono::milliseconds)> wait;
};

// Calls `attempt` as the policy says; gives up early when the wait would pass the deadline or the
// token is cancelled. The result of the last attempt, details kept (client/error_report.h).
absl::Status CallWithRetry(const RetryPolicy& policy, const CallOptions& options,
                           const std::function<grpc::Status(grpc::ClientContext*)>& attempt);

}  // namespace sinkd::client
