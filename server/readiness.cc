#include "server/readiness.h"

#include <utility>

namespace sinkd {

void Readiness::SetReady() {
  const std::lock_guard lock(mutex_);
  if (!draining_) why_not_.reset();
}

void Readiness::SetDraining(std::string why) {
  const std::lock_guard lock(mutex_);
  draining_ = true;
  why_not_ = std::move(why);
}

std::optional<std::string> Readiness::WhyNot() const {
  const std::lock_guard lock(mutex_);
  if (why_not_ || stuck_.empty()) return why_not_;
  return stuck_;
}

void Readiness::SetStuck(std::string why) {
  const std::lock_guard lock(mutex_);
  stuck_ = std::move(why);
}

}  // namespace sinkd
