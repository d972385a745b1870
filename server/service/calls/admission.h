// Admission: whether the server takes new work, how many streams it holds, and when it is idle.
//
// Life: open, then closed for good (new work is refused, running work goes on), then aborted
// (running work is told to stop).
// Ownership: places must not outlive their Admission.
// Thread-safety: all methods may be called from any thread.
// Errors: UNAVAILABLE with retry_after once closed; RESOURCE_EXHAUSTED with retry_after when the
// streams, or those of one caller, are at their limit.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include <absl/status/statusor.h>

#include "server/scheduler/caller_bound.h"

namespace sinkd {

class Admission {
 public:
  // Held while the work runs.
  class Place {
   public:
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    friend class Admission;
    Place(Admission& admission, std::optional<std::string> caller)
        : admission_(admission), caller_(std::move(caller)) {}
    Admission& admission_;
    const std::optional<std::string> caller_;  // of a stream
  };

  // `most_of_a_caller`: of the streams.
  explicit Admission(int64_t max_streams, int64_t most_of_a_caller = CallerBound::kNone)
      : max_streams_(max_streams), bound_("streams of the server", most_of_a_caller) {}

  // Counts towards max_streams.
  absl::StatusOr<std::unique_ptr<Place>> EnterStream(const std::string& caller);
  absl::StatusOr<std::unique_ptr<Place>> Enter();  // other work

  void Close();
  void Abort();  // closes too
  std::stop_token abort_token() const { return abort_.get_token(); }

  int64_t streams() const;  // open now
  int64_t max_streams() const { return max_streams_; }

  // True when no work is left, at once or within `timeout`.
  bool WaitUntilIdle(std::chrono::milliseconds timeout);

 private:
  absl::StatusOr<std::unique_ptr<Place>> Take(std::optional<std::string> caller);

  const int64_t max_streams_;
  std::stop_source abort_;
  mutable std::mutex mutex_;
  std::condition_variable idle_;
  bool closed_ = false;
  int64_t streams_ = 0;
  CallerBound bound_;
  int64_t places_ = 0;
};

// The error of work that is refused, or ended, because the server stops.
absl::Status ServerStopping();

}  // namespace sinkd
