#include "server/models/pass_memory.h"

#include <utility>

#include "server/engine/memory_estimate.h"
#include "server/engine/placement.h"

namespace sinkd {

PassMemory::PassMemory(const ModelInfo& info, std::shared_ptr<MemoryBudget> budget)
    : info_(info), budget_(std::move(budget)), devices_(DevicesOf(info.device)) {}

absl::StatusOr<MemoryBudget::Hold> PassMemory::Hold(std::span<const int64_t> lengths,
                                                    int64_t beside) const {
  const int64_t pass = ForwardBytes(info_.spec, info_.compute_type, devices_.front(), lengths);
  return budget_->HoldRun(devices_, pass + beside);
}

absl::StatusOr<MemoryBudget::Hold> PassMemory::HoldAtHome(int64_t bytes) const {
  return budget_->HoldRun({&devices_.front(), 1}, bytes);
}

}  // namespace sinkd
