// InTurns: a long computation in turns of some tens of milliseconds, so that a device's thread can
// do the work of others between two of them.
//
// A turn is a fixed amount of work, not of time: results do not depend on when turns come.
// Thread-safety: one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <stop_token>
#include <utility>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "server/base/status.h"

namespace sinkd {

// Values that a turn computes or looks at, about.
inline constexpr int64_t kValuesOfATurn = int64_t{1} << 22;

template <typename Result>
class InTurns {
 public:
  virtual ~InTurns() = default;

  // The next turn; nothing when done. CANCELLED once `stop` is set. After an error it is over.
  virtual absl::Status Step(const std::stop_token& stop) = 0;
  virtual bool done() const = 0;
  virtual Result Take() = 0;  // once, when done
};

// A computation that cannot be cut up, on a thread of its own: a turn waits for it a little. Its
// end is waited for by the destructor.
template <typename Result>
class OnTheSide final : public InTurns<Result> {
 public:
  explicit OnTheSide(std::function<absl::StatusOr<Result>()> work)
      : computing_(std::async(std::launch::async, std::move(work))) {}

  absl::Status Step(const std::stop_token& stop) override {
    constexpr std::chrono::milliseconds kTurn{10};
    if (done_) return absl::OkStatus();
    if (stop.stop_requested()) return Cancelled("the analysis was cancelled");
    if (computing_.wait_for(kTurn) != std::future_status::ready) return absl::OkStatus();
    absl::StatusOr<Result> result = computing_.get();
    done_ = true;
    if (!result.ok()) return std::move(result).status();
    result_ = *std::move(result);
    return absl::OkStatus();
  }
  bool done() const override { return done_; }
  Result Take() override { return std::move(result_); }

 private:
  std::future<absl::StatusOr<Result>> computing_;
  bool done_ = false;
  Result result_;
};

}  // namespace sinkd
