#include "server/access/principal.h"

#include <string_view>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

absl::Status UsedUp(std::string_view what, std::string_view reason, std::string_view subject,
                    int64_t limit, std::chrono::milliseconds retry_after) {
  return ResourceExhausted(
      what, {.reason = std::string(reason),
             .subject = std::string(subject),
             .value = StrCat(limit),
             .fix = "retry later, or have the quota raised in the server's token file",
             .retry_after = retry_after});
}

absl::Status TakeOf(RateBucket& bucket, int64_t count, const std::optional<int64_t>& per_minute,
                    RateBucket::TimePoint now, std::string_view what, std::string_view subject) {
  if (!per_minute) return absl::OkStatus();
  const std::optional<std::chrono::milliseconds> wait = bucket.Take(count, *per_minute, now);
  if (!wait) return absl::OkStatus();
  return UsedUp(what, "QUOTA_USED_UP", subject, *per_minute, *wait);
}

}  // namespace

Principal::Principal(std::string name, Role role, Quotas quotas, double weight,
                     std::shared_ptr<Usage> usage)
    : name_(std::move(name)),
      role_(role),
      quotas_(quotas),
      weight_(weight),
      usage_(std::move(usage)) {}

absl::Status Principal::TakeRequest() const {
  const std::lock_guard lock(usage_->mutex);
  return TakeOf(usage_->requests, 1, quotas_.requests_per_minute, usage_->now(),
                "this token made as many requests as it may in a minute", "requests-per-minute");
}

absl::Status Principal::TakeTokens(int64_t count) const {
  const std::lock_guard lock(usage_->mutex);
  return TakeOf(usage_->tokens, count, quotas_.tokens_per_minute, usage_->now(),
                "this token had as many tokens of samples run as it may in a minute",
                "tokens-per-minute");
}

absl::StatusOr<std::unique_ptr<Principal::StreamPlace>> Principal::EnterStream() const {
  const std::lock_guard lock(usage_->mutex);
  if (quotas_.streams && usage_->streams >= *quotas_.streams) {
    return UsedUp("this token has as many streams open as it may", "QUOTA_USED_UP", "streams",
                  *quotas_.streams, std::chrono::seconds(1));
  }
  auto place = std::make_unique<StreamPlace>(usage_);
  ++usage_->streams;
  return place;
}

Principal::StreamPlace::~StreamPlace() {
  const std::lock_guard lock(usage_->mutex);
  --usage_->streams;
}

}  // namespace sinkd
