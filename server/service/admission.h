// Admission: whether the server takes new work, how many streams it holds, and when it is idle.
//
// Life: open, then closed for good (new work is refused, running work goes on), then aborted
// (running work is told to stop).
// Ownership: places must not outlive their Admission.
// Thread-safety: all methods may be called from any thread.
// Errors: UNAVAILABLE with retry_after once closed; RESOURCE_EXHAUSTED with retry_after when the
// streams are at their limit.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>

#include <absl/status/statusor.h>

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
    Place(Admission& admission, bool stream) : admission_(admission), stream_(stream) {}
    Admission& admission_;
    const bool stream_;
  };

  explicit Admission(int64_t max_streams) : max_streams_(max_streams) {}

  absl::StatusOr<std::unique_ptr<Place>> EnterStream();  // counts towards max_streams
  absl::StatusOr<std::unique_ptr<Place>> Enter();        // other work

  void Close();
  void Abort();  // closes too
  std::stop_token abort_token() const { return abort_.get_token(); }

  // True when no work is left, at once or within `timeout`.
  bool WaitUntilIdle(std::chrono::milliseconds timeout);

 private:
  absl::StatusOr<std::unique_ptr<Place>> Take(bool stream);

  const int64_t max_streams_;
  std::stop_source abort_;
  std::mutex mutex_;
  std::condition_variable idle_;
  bool closed_ = false;
  int64_t streams_ = 0;
  int64_t places_ = 0;
};

// The error of work that is refused, or ended, because the server stops.
absl::Status ServerStopping();

}  // namespace sinkd
