#include "server/service/calls/admission.h"

#include <absl/strings/str_cat.h>

#include "server/base/status.h"

namespace sinkd {

absl::Status ServerStopping() {
  return Unavailable("the server is stopping",
                     {.reason = "SERVER_STOPPING",
                      .subject = "server",
                      .fix = "retry on another server, or on this one after its restart",
                      .retry_after = std::chrono::milliseconds(1000)});
}

Admission::Place::~Place() {
  const std::lock_guard lock(admission_.mutex_);
  if (caller_) {
    --admission_.streams_;
    admission_.bound_.Give(*caller_, 1);
  }
  // Under the lock, since the waiter may destroy the Admission as soon as it sees zero.
  if (--admission_.places_ == 0) admission_.idle_.notify_all();
}

absl::StatusOr<std::unique_ptr<Admission::Place>> Admission::EnterStream(
    const std::string& caller) {
  return Take(caller);
}
absl::StatusOr<std::unique_ptr<Admission::Place>> Admission::Enter() {
  return Take(std::nullopt);
}

absl::StatusOr<std::unique_ptr<Admission::Place>> Admission::Take(
    std::optional<std::string> caller) {
  const std::lock_guard lock(mutex_);
  if (closed_) return ServerStopping();
  if (caller && streams_ >= max_streams_) {
    return ResourceExhausted(
        absl::StrCat("all ", max_streams_, " streams of the server are in use"),
        {.reason = "TOO_MANY_STREAMS",
         .subject = "streams",
         .value = absl::StrCat(streams_),
         .fix = "retry when another stream has ended, or raise the server's --max-streams",
         .retry_after = std::chrono::milliseconds(1000)});
  }
  if (caller) {
    SINKD_RETURN_IF_ERROR(bound_.Check(*caller));
    bound_.Take(*caller, 1);
    ++streams_;
  }
  ++places_;
  return std::unique_ptr<Place>(new Place(*this, std::move(caller)));
}

int64_t Admission::streams() const {
  const std::lock_guard lock(mutex_);
  return streams_;
}

void Admission::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

void Admission::Abort() {
  Close();
  abort_.request_stop();
}

bool Admission::WaitUntilIdle(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return idle_.wait_for(lock, timeout, [this] { return places_ == 0; });
}

}  // namespace sinkd
