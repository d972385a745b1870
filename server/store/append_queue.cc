#include "server/store/append_queue.h"

#include <algorithm>
#include <utility>

#include "server/base/status.h"
#include "server/store/run_rules.h"

namespace sinkd {
namespace {

// A larger transaction would keep the others waiting longer than it saves them.
constexpr int64_t kMaxGroupBytes = int64_t{4} << 20;

int64_t BytesOf(std::span<const Record> records) {
  int64_t bytes = 0;
  for (const Record& record : records) bytes += RecordBytes(record);
  return bytes;
}

}  // namespace

AppendQueue::AppendQueue(Database& database, std::function<StoreTime()> now)
    : database_(database), now_(std::move(now)) {}

absl::StatusOr<std::vector<Kept>> AppendQueue::Append(std::string_view run_id,
                                                      std::span<const Record> records,
                                                      const AppendOptions& options) {
  Waiting own{.request = {.run_id = run_id, .records = records, .options = options}};
  std::unique_lock lock(mutex_);
  waiting_.push_back(&own);
  progress_.wait(lock, [&] { return own.done || waiting_.front() == &own; });
  if (own.done) return std::move(own.request.answer);
  const Group group = NextGroup();
  lock.unlock();
  WriteGroup(group);
  lock.lock();
  for (Waiting* one : group) one->done = true;
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<ptrdiff_t>(group.size()));
  progress_.notify_all();
  return std::move(own.request.answer);
}

AppendQueue::Group AppendQueue::NextGroup() const {
  Group group;
  int64_t bytes = 0;
  for (Waiting* one : waiting_) {
    bytes += BytesOf(one->request.records);
    if (!group.empty() && bytes > kMaxGroupBytes) break;
    group.push_back(one);
  }
  return group;
}

void AppendQueue::WriteGroup(Group group) {
  // Several servers lock runs in the same order, so that they do not wait for each other in a ring.
  std::stable_sort(group.begin(), group.end(), [](const Waiting* a, const Waiting* b) {
    return a->request.run_id < b->request.run_id;
  });
  const absl::Status status = WriteTogether(group);
  if (status.ok()) return;
  // One request may be at fault, or too large for the remaining space, so try each alone. A
  // database that does not respond is not asked again.
  const bool alone = group.size() == 1 || absl::IsUnavailable(status);
  for (Waiting* one : group) {
    const absl::Status own = alone ? status : WriteTogether({one});
    if (!own.ok()) one->request.answer = own;
  }
}

absl::Status AppendQueue::WriteTogether(const Group& group) {
  return database_.Write([&](Connection& connection) -> absl::Status {
    const StoreTime now = now_();
    for (Waiting* one : group) {
      SINKD_RETURN_IF_ERROR(AppendRecords(connection, now, one->request));
    }
    return absl::OkStatus();
  });
}

}  // namespace sinkd
