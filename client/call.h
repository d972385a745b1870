// What all calls share: deadline, request id, cancellation and retry policy.
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

// Metadata key of CallOptions::request_id, which appears in the server's log.
inline constexpr char kRequestIdKey[] = "x-request-id";

// Cancels calls from another thread. One token can be used for many calls, one after the other.
// Thread-safety: all methods may be called from any thread (not from a signal handler).
class Cancellation {
 public:
  // Cancels the running call, if any, and every later call with this token.
  void Cancel();
  bool cancelled() const;

 private:
  friend class ScopedCall;
  mutable std::mutex mutex_;
  bool cancelled_ = false;               // guarded by mutex_
  grpc::ClientContext* call_ = nullptr;  // guarded by mutex_; owned by the ScopedCall
};

struct CallOptions {
  // When the call ends at the latest; absent: no limit.
  std::optional<std::chrono::system_clock::time_point> deadline;
  // Sent as metadata and written to the server's log; empty: the server generates one.
  std::string request_id;
  // Receives the address of the server that handled the call; may be null. Not owned.
  std::string* peer = nullptr;
  // Not owned, must outlive the call; null: the call cannot be cancelled.
  Cancellation* cancellation = nullptr;
};

// The context of one call, made from its options; detaches from the token when destroyed.
// Thread-safety: for use by the calling thread only.
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

// How unary calls that fail with UNAVAILABLE are retried. A RetryInfo from the server can make a
// wait longer.
struct RetryPolicy {
  int attempts = 3;  // including the first, at least 1
  std::chrono::milliseconds first_wait{100};
  double growth = 2.0;  // ratio of each wait to the previous one
  std::chrono::milliseconds longest_wait{2000};
  // Goes on until this long after the first call, even beyond `attempts`.
  std::chrono::milliseconds at_least{0};
  // Replaces the real wait; for tests.
  std::function<void(std::chrono::milliseconds)> wait;
};

// Calls `attempt` according to the policy. Gives up early if the wait would exceed the deadline or
// the token is cancelled. Returns the last attempt's result, with details (client/error_report.h).
absl::Status CallWithRetry(const RetryPolicy& policy, const CallOptions& options,
                           const std::function<grpc::Status(grpc::ClientContext*)>& attempt);

}  // namespace sinkd::client
