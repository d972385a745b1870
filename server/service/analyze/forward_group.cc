#include "server/service/analyze/forward_group.h"

#include <algorithm>

namespace sinkd {

void ForwardGroup::Join(std::weak_ptr<ForwardQueue> queue) {
  const std::lock_guard lock(mutex_);
  queues_.push_back(std::move(queue));
}

std::vector<std::shared_ptr<ForwardQueue>> ForwardGroup::OthersThan(const ForwardQueue& self) {
  std::vector<std::shared_ptr<ForwardQueue>> others;
  const std::lock_guard lock(mutex_);
  std::erase_if(queues_, [](const std::weak_ptr<ForwardQueue>& queue) { return queue.expired(); });
  if (queues_.empty()) return others;
  std::rotate(queues_.begin(), queues_.begin() + 1, queues_.end());
  for (const std::weak_ptr<ForwardQueue>& each : queues_) {
    std::shared_ptr<ForwardQueue> queue = each.lock();
    if (queue && queue.get() != &self) others.push_back(std::move(queue));
  }
  return others;
}

std::shared_ptr<ForwardGroup> ForwardGroups::For(const ModelInfo& model,
                                                 const TraceRequest& request) {
  const std::lock_guard lock(mutex_);
  std::erase_if(lines_, [](const Line& line) { return line.group.expired(); });
  for (const Line& line : lines_) {
    if (line.model != &model || line.request != request) continue;
    // The last queue may go meanwhile.
    if (std::shared_ptr<ForwardGroup> group = line.group.lock()) return group;
  }
  auto group = std::make_shared<ForwardGroup>();
  lines_.push_back({&model, request, group});
  return group;
}

}  // namespace sinkd
