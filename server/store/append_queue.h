// AppendQueue: group commit. While one transaction is being synced, further appends gather and form
// the next transaction.
//
// Thread-safety: Append may be called from any thread, and returns when its records are on disk.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "server/store/database.h"
#include "server/store/record_append.h"
#include "server/store/run_store.h"

namespace sinkd {

class AppendQueue {
 public:
  // The database must outlive the queue.
  AppendQueue(Database& database, std::function<StoreTime()> now);

  // The records must have passed the checks (run_rules.h).
  absl::StatusOr<std::vector<Kept>> Append(std::string_view run_id, std::span<const Record> records,
                                           const AppendOptions& options);

 private:
  struct Waiting {
    AppendRequest request;
    bool done = false;
  };
  using Group = std::vector<Waiting*>;

  Group NextGroup() const;
  void WriteGroup(Group group);
  absl::Status WriteTogether(const Group& group);

  Database& database_;
  const std::function<StoreTime()> now_;
  std::mutex mutex_;
  std::condition_variable progress_;
  std::deque<Waiting*> waiting_;  // the first one writes for all
};

}  // namespace sinkd
