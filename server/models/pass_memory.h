// PassMemory: reserves memory of the budget for the passes of one model, for samples and studies.
//
// Ownership: borrows the model's info. Thread-safety: all methods may be called from any thread.
// Errors: RESOURCE_EXHAUSTED, as MemoryBudget::HoldRun.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "server/engine/model.h"
#include "server/models/memory_budget.h"

namespace sinkd {

class PassMemory {
 public:
  PassMemory(const ModelInfo& info, std::shared_ptr<MemoryBudget> budget);

  // On each device of the model, for a pass over samples of these lengths (ForwardBytes) plus
  // `beside` bytes.
  absl::StatusOr<MemoryBudget::Hold> Hold(std::span<const int64_t> lengths,
                                          int64_t beside = 0) const;

  // On the device of the embedding only.
  absl::StatusOr<MemoryBudget::Hold> HoldAtHome(int64_t bytes) const;

 private:
  const ModelInfo& info_;
  const std::shared_ptr<MemoryBudget> budget_;
  const std::vector<std::string> devices_;
};

}  // namespace sinkd
