// Admission: whether the server accepts new work, how many streams are open, and when it is idle.
//
// Life: open, then closed for good (new work is refused, running work continues), then aborted
// (running work is stopped).
// Ownership: places must not outlive their Admission.
// Thread-safety: all methods may be called from any thread.
// Errors: UNAVAILABLE with retry_after once closed; RESOURCE_EXHAUSTED with retry_after if the
// limit of streams, or that of the caller's streams, is reached.
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
  // One unit of running work.
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
    const std::optional<std::string> caller_;  // if it is a stream
  };

  // `most_of_a_caller`: the limit of streams per caller.
  explicit Admission(int64_t max_streams, int64_t most_of_a_caller = CallerBound::kNone)
      : max_streams_(max_streams), bound_("streams of the server", most_of_a_caller) {}

  // Counts towards max_streams.
  absl::StatusOr<std::unique_ptr<Place>> EnterStream(const std::string& caller);
  absl::StatusOr<std::unique_ptr<Place>> Enter();  // other work

  void Close();
  void Abort();  // also closes
  std::stop_token abort_token() const { return abort_.get_token(); }

  int64_t streams() const;  // open now
  int64_t max_streams() const { return max_streams_; }

  // Waits up to `timeout` until no work is left; true if so.
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

// The error of work that is refused or ended because the server stops.
absl::Status ServerStopping();

}  // namespace sinkd
