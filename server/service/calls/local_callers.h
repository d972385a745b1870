// LocalCallers: callers that another port of this process has admitted, for as long as their calls
// over the in-process channel run. The gate takes whoever names one of them as it is.
//
// Keys are unguessable, and count only in calls that came over no connection.
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

// The key of a local caller in a call's metadata.
inline constexpr char kLocalCallerKey[] = "sinkd-local-caller";

struct LocalCaller {
  std::shared_ptr<const Principal> principal;
  Peer peer;
};

class LocalCallers {
 public:
  // Known until it is destroyed.
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
