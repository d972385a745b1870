#include "server/scheduler/caller_bound.h"

#include <algorithm>

#include <absl/strings/str_cat.h>

#include "server/base/status.h"

namespace sinkd {

absl::Status CallerBound::Check(std::string_view caller) const {
  const auto found = held_.find(caller);
  if (found == held_.end() || found->second < most_) return absl::OkStatus();
  return ResourceExhausted(
      absl::StrCat("this caller holds ", found->second, " ", what_,
                   ", and one caller gets no "
                   "more from ",
                   most_, " on"),
      {.reason = "CALLER_LIMIT",
       .subject = what_,
       .value = absl::StrCat(found->second),
       .fix = "retry when another stream of yours has ended, or raise the server's "
              "--max-caller-percent",
       .retry_after = std::chrono::milliseconds(1000)});
}

void CallerBound::Take(std::string_view caller, int64_t places) {
  held_[std::string(caller)] += places;
}

void CallerBound::Give(std::string_view caller, int64_t places) {
  const auto found = held_.find(caller);
  if ((found->second -= places) == 0) held_.erase(found);
}

int64_t CallersPart(int64_t places, int64_t percent) {
  if (percent >= 100) return CallerBound::kNone;
  return std::clamp<int64_t>(places * percent / 100, 1, std::max<int64_t>(1, places - 1));
}

}  // namespace sinkd
