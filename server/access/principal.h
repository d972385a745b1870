// Principal: a caller, with its role and quotas.
//
// Ownership: shared by the calls it makes. Usage, what a name has used so far, survives reloads of
// the token file. A call keeps the role and limits that it began with.
// Thread-safety: all methods may be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "server/access/rate_bucket.h"
#include "server/access/role.h"

namespace sinkd {

using AccessClock = std::function<RateBucket::TimePoint()>;

// The quotas of a name; absent: unlimited.
struct Quotas {
  std::optional<int64_t> requests_per_minute;
  std::optional<int64_t> tokens_per_minute;  // of samples, as a model counts them
  std::optional<int64_t> streams;            // Analyze and RunStudy at once

  bool operator==(const Quotas&) const = default;
};

// What a name has used so far.
struct Usage {
  explicit Usage(AccessClock clock) : now(std::move(clock)) {}

  const AccessClock now;
  std::mutex mutex;
  RateBucket requests;
  RateBucket tokens;
  int64_t streams = 0;
};

class Principal {
 public:
  // One open stream of the caller's quota, until it is destroyed.
  class StreamPlace {
   public:
    explicit StreamPlace(std::shared_ptr<Usage> usage) : usage_(std::move(usage)) {}
    ~StreamPlace();
    StreamPlace(const StreamPlace&) = delete;
    StreamPlace& operator=(const StreamPlace&) = delete;

   private:
    const std::shared_ptr<Usage> usage_;
  };

  // `weight` determines its share of a busy device relative to other callers.
  Principal(std::string name, Role role, Quotas quotas, double weight,
            std::shared_ptr<Usage> usage);

  const std::string& name() const { return name_; }
  Role role() const { return role_; }
  double weight() const { return weight_; }

  // RESOURCE_EXHAUSTED with retry_after if a quota is used up.
  absl::Status TakeRequest() const;
  // Charges the tokens of a sample that is about to run.
  absl::Status TakeTokens(int64_t count) const;
  absl::StatusOr<std::unique_ptr<StreamPlace>> EnterStream() const;

 private:
  const std::string name_;
  const Role role_;
  const Quotas quotas_;
  const double weight_;
  const std::shared_ptr<Usage> usage_;
};

}  // namespace sinkd
