// LocalCallers: callers that the HTTP port has authenticated, while their calls run over the
// in-process channel. The gate accepts a call that names one of them without checking it again.
//
// Keys are unguessable, and are accepted only in calls that did not come over a connection.
// Ownership: entries must not outlive it. Thread-safety: all methods may be called from any thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "server/access/principal.h"
#include "server/net/peer.h"

namespace sinkd {

// The metadata key that names a local caller.
inline constexpr char kLocalCallerKey[] = "sinkd-local-caller";

struct LocalCaller {
  std::shared_ptr<const Principal> principal;
  Peer peer;
};

class LocalCallers {
 public:
  // A caller is known until its entry is destroyed.
  class Entry {
   public:
    Entry(LocalCallers& callers, LocalCaller caller);
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

    const std::string& key() const { return key_; }

   private:
    LocalCallers& callers_;
    const std::string key_;
  };

  std::optional<LocalCaller> Find(std::string_view key) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, LocalCaller, std::less<>> callers_;
};

}  // namespace sinkd
