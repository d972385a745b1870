#include "server/service/calls/local_callers.h"

#include <random>
#include <utility>

#include "server/base/str_cat.h"

namespace sinkd {
namespace {

std::string NewKey() {
  std::random_device random;
  return StrCat(random(), "-", random(), "-", random(), "-", random());
}

}  // namespace

LocalCallers::Entry::Entry(LocalCallers& callers, LocalCaller caller)
    : callers_(callers), key_(NewKey()) {
  const std::lock_guard lock(callers_.mutex_);
  callers_.callers_.emplace(key_, std::move(caller));
}

LocalCallers::Entry::~Entry() {
  const std::lock_guard lock(callers_.mutex_);
  callers_.callers_.erase(key_);
}

std::optional<LocalCaller> LocalCallers::Find(std::string_view key) const {
  const std::lock_guard lock(mutex_);
  const auto found = callers_.find(key);
  return found == callers_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace sinkd
